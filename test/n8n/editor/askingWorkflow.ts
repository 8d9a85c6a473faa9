import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { openWindow } from '../../browser/browser.ts';
import { signIn } from '../../browser/team.ts';
import type { Stage } from '../stage.ts';
import { builder } from './builder.ts';
import type { Editor } from './editor.ts';
import { boldStepsOf } from './readmeSteps.ts';
import { countSteps } from './steps.ts';

const SERVICE = 'Conversation Service';
const TRIGGER = 'Conversation Service Agent Trigger';
const ASK_CUSTOMER = 'Send message and wait for reply';
const ASK_TEAM = 'Ask for approval and wait';
const REPLY = 'Reply in agent turn';
const HAND_OVER = 'Hand over in agent turn';

const STEPS = {
  trigger: `Add ${TRIGGER} to a new workflow`,
  askCustomer: `Add ${ASK_CUSTOMER} of ${SERVICE}`,
  isAnswered: 'Add an If node',
  noAnswer: `Add ${HAND_OVER} at false`,
  askTeam: `Add ${ASK_TEAM} at true`,
  isApproved: 'Add a second If node',
  reply: `Add ${REPLY} at its true`,
  handOver: `Add ${HAND_OVER} at its false`,
  publish: 'Publish, and write on the chat page',
  decide: "Decide on the service's Decisions screen",
};

const QUESTION = 'What is your order number?';
const NO_ANSWER = 'A colleague will help you with your order.';
const REFUNDED = 'Your refund is on its way.';
const REFUSED = 'We cannot refund this order. A colleague will explain why.';

/**
 * "Ask the customer, ask the team" of the README, clicked and typed by somebody who leaves everything
 * else as it is; then a customer and a colleague.
 */
export function provesAskingWorkflow(
  stage: () => Stage,
  editor: () => Editor,
  browser: () => Browser,
): void {
  describe('a workflow that asks the customer and the team', () => {
    const steps = countSteps();
    let colleague: Page;
    let workflowId: string;
    beforeAll(async () => {
      colleague = (await openWindow(browser())).page;
      await signIn(colleague, stage().service.url, '/waiting');
    });
    afterAll(() => colleague.context().close());

    it('is built and published by the steps of the README', async () => {
      await build(editor(), steps.begin);
      steps.begin(STEPS.publish);
      await editor().publish();
      workflowId = /\/workflow\/(\w+)/.exec(editor().page.url())![1]!;
      await editor().page.getByText('This workflow is now the agent').waitFor();
      await editor().page.getByRole('button', { name: 'Got it' }).click();
    });

    it.each([
      ['Approve', 'A-1042', REFUNDED],
      ['Reject', 'B-77', REFUSED],
    ])('goes on when the colleague presses %s', async (verdict, order, answer) => {
      const customer = (await openWindow(browser())).page;
      await customer.goto(`${stage().service.url}/chat`);
      await write(customer, 'I want my money back');
      await customer.getByText(QUESTION).waitFor();
      await write(customer, order);
      if (verdict === 'Approve') steps.begin(STEPS.decide);
      await colleague.getByText(order).waitFor();
      await colleague.getByRole('button', { name: verdict }).click();
      await stage()
        .until(`the customer to read “${answer}”`, () => customer.getByText(answer).isVisible())
        .catch(async (cause: unknown) => {
          const ran = await stage().n8n.executions(workflowId);
          throw new Error(`n8n ran ${JSON.stringify(ran.slice(-2))}`, { cause });
        });
      steps.end();
      await customer.context().close();
    });

    it('took no other steps than the README has', async () => {
      process.stdout.write(`A workflow that asks the customer and the team:\n${steps.report()}`);
      expect(await boldStepsOf('### Ask the customer, ask the team')).toEqual(
        steps.taken.map(({ title }) => title),
      );
    });
  });
}

async function build(editor: Editor, begin: (step: string) => void): Promise<void> {
  const { addBehind, choose, drag, fill, fillExpression, save } = builder(editor);
  const { node, page, closeNode } = editor;
  /** In the open panel of an If. */
  const asksWhether = async (field: string) => {
    await drag(field.split('.').at(-1)!, node.getByTestId('filter-condition-left'));
    await node.getByTestId('filter-operator-select').click();
    await page.getByText('Boolean', { exact: true }).hover();
    // As one text: another If of the workflow asks whether something else is true.
    const isTrue = '"operator":{"type":"boolean","operation":"true"';
    await save(`"leftValue":"={{ $json.${field} }}","rightValue":"",${isTrue}`, () =>
      page.getByText('is true', { exact: true }).click(),
    );
  };
  begin(STEPS.trigger);
  await editor.newWorkflow();
  await editor.add(TRIGGER);
  await choose('responseMode', 'Using Agent Turn Operations');
  await closeNode();
  begin(STEPS.askCustomer);
  await addBehind(TRIGGER, SERVICE, ASK_CUSTOMER);
  await fill('text', QUESTION);
  await closeNode();
  begin(STEPS.isAnswered);
  await addBehind(ASK_CUSTOMER, 'If');
  await asksWhether('answered');
  await closeNode();
  begin(STEPS.noAnswer);
  await addBehind('If', SERVICE, HAND_OVER, 1);
  await fill('text', NO_ANSWER);
  await closeNode();
  begin(STEPS.askTeam);
  await addBehind('If', SERVICE, ASK_TEAM, 0);
  await fill('message', 'Refund this order?');
  await node.getByRole('button', { name: 'Add Detail' }).click();
  await fill('label', 'Order');
  await fillExpression('value', '{{ $json.value }}');
  await closeNode();
  begin(STEPS.isApproved);
  await addBehind(ASK_TEAM, 'If');
  await asksWhether('data.approved');
  await closeNode();
  begin(STEPS.reply);
  await addBehind('If1', SERVICE, REPLY, 0);
  await fill('text', REFUNDED);
  await closeNode();
  begin(STEPS.handOver);
  await addBehind('If1', SERVICE, HAND_OVER, 1);
  await fill('text', REFUSED);
  await closeNode();
}

async function write(customer: Page, text: string): Promise<void> {
  await customer.getByLabel('Your message').fill(text);
  await customer.getByRole('button', { name: 'Send' }).click();
}
