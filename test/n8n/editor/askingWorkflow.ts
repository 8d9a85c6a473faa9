import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { openWindow } from '../../browser/browser.ts';
import { signIn } from '../../browser/team.ts';
import type { Stage } from '../stage.ts';
import { builder } from './builder.ts';
import type { Editor } from './editor.ts';
import { boldStepsOf } from './readmeSteps.ts';
import { timeSteps } from './steps.ts';

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
 * Builds the workflow of "Ask the customer, ask the team" in the README by clicking and typing,
 * with n8n's defaults for everything else. Then a customer and a colleague use it.
 */
export function provesAskingWorkflow(
  stage: () => Stage,
  editor: () => Editor,
  browser: () => Browser,
): void {
  describe('a workflow that asks the customer and the team', () => {
    const steps = timeSteps();
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
    ])('goes on when the colleague presses %s', async (button, order, answer) => {
      const customer = (await openWindow(browser())).page;
      await customer.goto(`${stage().service.url}/chat`);
      await write(customer, 'I want my money back');
      await customer.getByText(QUESTION).waitFor();
      await write(customer, order);
      if (button === 'Approve') steps.begin(STEPS.decide);
      await colleague.getByText(order).waitFor();
      await colleague.getByRole('button', { name: button }).click();
      await stage()
        .until(`the customer to read “${answer}”`, () => customer.getByText(answer).isVisible())
        .catch(async (cause: unknown) => {
          const executions = await stage().n8n.executions(workflowId);
          const last = JSON.stringify(executions.slice(-2));
          throw new Error(`The last executions in n8n: ${last}`, { cause });
        });
      steps.end();
      await customer.context().close();
    });

    it('took the steps of the README and no others', async () => {
      process.stdout.write(`A workflow that asks the customer and the team:\n${steps.report()}`);
      expect(await boldStepsOf('### Ask the customer, ask the team')).toEqual(
        steps.taken.map(({ title }) => title),
      );
    });
  });
}

async function build(editor: Editor, begin: (step: string) => void): Promise<void> {
  const { addAfter, choose, drag, fill, fillExpression, save } = builder(editor);
  const { node, page, closeNode } = editor;
  /** Makes the open If node ask whether this field of its input is true. */
  const askWhether = async (field: string) => {
    await drag(field.split('.').at(-1)!, node.getByTestId('filter-condition-left'));
    await node.getByTestId('filter-operator-select').click();
    await page.getByText('Boolean', { exact: true }).hover();
    // Field and operator are one text, because another If of the workflow has the same operator.
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
  await addAfter(TRIGGER, SERVICE, ASK_CUSTOMER);
  await fill('text', QUESTION);
  await closeNode();
  begin(STEPS.isAnswered);
  await addAfter(ASK_CUSTOMER, 'If');
  await askWhether('answered');
  await closeNode();
  begin(STEPS.noAnswer);
  await addAfter('If', SERVICE, HAND_OVER, 1);
  await fill('text', NO_ANSWER);
  await closeNode();
  begin(STEPS.askTeam);
  await addAfter('If', SERVICE, ASK_TEAM, 0);
  await fill('message', 'Refund this order?');
  await node.getByRole('button', { name: 'Add Detail' }).click();
  await fill('label', 'Order');
  await fillExpression('value', '{{ $json.value }}');
  await closeNode();
  begin(STEPS.isApproved);
  await addAfter(ASK_TEAM, 'If');
  await askWhether('data.approved');
  await closeNode();
  begin(STEPS.reply);
  await addAfter('If1', SERVICE, REPLY, 0);
  await fill('text', REFUNDED);
  await closeNode();
  begin(STEPS.handOver);
  await addAfter('If1', SERVICE, HAND_OVER, 1);
  await fill('text', REFUSED);
  await closeNode();
}

async function write(customer: Page, text: string): Promise<void> {
  await customer.getByLabel('Your message').fill(text);
  await customer.getByRole('button', { name: 'Send' }).click();
}
