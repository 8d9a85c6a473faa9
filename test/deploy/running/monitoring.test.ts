// The alerts and the dashboard, checked by Prometheus' own program against a service's metrics.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { findProgram } from './proxies.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../../../deploy/monitoring', import.meta.url));
const file = (name: string) => join(folder, name);

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const { groups } = parse(readFileSync(file('alerts.yml'), 'utf8')) as Rules;
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(readFileSync(file('grafana-dashboard.json'), 'utf8')) as Dashboard;
const panelExpressions = panels
  .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  .map((expr) =>
    expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'conversation-service'),
  );

const withPromtool = findProgram('promtool') !== null ? it : it.skip;

describe('deploy/monitoring', () => {
  let service: ServiceProcess;
  let temporary: string;
  beforeAll(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'conversation-monitoring-'));
    service = await startServiceProcess();
    await service.api.post('/api/hooks', {
      event: 'message.received',
      target_url: 'https://127.0.0.1:9/hook',
    });
    await (await chatCustomer(service.url, { workspace: service.workspace })).write('hello');
    await waitFor('an attempt', async () =>
      (await readMetrics(service.url)).text.includes('delivery_attempt_duration_seconds_bucket'),
    );
  });
  afterAll(async () => {
    await service?.close();
    await rm(temporary, { recursive: true, force: true });
  });

  withPromtool(
    'passes promtool: rules, configuration, dashboard, and what the service shows',
    async () => {
      await run('promtool', ['check', 'rules', '--lint-fatal', file('alerts.yml')]);
      await run('promtool', ['check', 'config', file('prometheus.yml')]);
      const { text } = await readMetrics(service.url);
      const lint = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
      expect(lint).toMatchObject({ status: 0, stderr: '' });
      // promtool checks no dashboard, so its expressions are checked as rules.
      const asRules = panelExpressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
      const path = join(temporary, 'panels.yml');
      await writeFile(path, JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }));
      await run('promtool', ['check', 'rules', path]);
    },
  );

  it('uses only metrics and labels that a running service shows', async () => {
    const { text } = await readMetrics(service.url);
    const shown = new Set(
      [...text.matchAll(/^(\w+)(?:\{| )/gm)].map(([, name]) => name!).concat('up'),
    );
    for (const expr of [...rules.map((rule) => rule.expr), ...panelExpressions]) {
      const used = [...expr.matchAll(/\b(?:conversation_service|nodejs|process)_\w+/g)];
      expect([expr, expr.includes('up{') || used.length > 0]).toEqual([expr, true]);
      for (const [name] of used) expect([name, shown.has(name)]).toEqual([name, true]);
      for (const [, label, value] of expr.matchAll(/(\w+)="([^"$]+)"/g)) {
        if (label === 'job' || label === 'role') continue; // which Prometheus adds
        // A count of what has not happened yet is not shown, so its label is seen in another.
        if (value === '5xx') expect(text).toContain('status_class="2xx"');
        else expect([expr, text.includes(`${label}="${value}"`)]).toEqual([expr, true]);
      }
    }
  });

  withPromtool(
    'reports a dead process, a store that cannot write, failing subscriptions and a missing worker, and nothing of healthy ones',
    async () => {
      const series = (name: string, values: string) => ({ series: name, values });
      const alert = (alertname: string, labels: Record<string, string>, at: string) => {
        const { annotations } = rules.find((rule) => rule.alert === alertname)!;
        const filledIn = Object.entries(annotations).map(([key, text]) => [
          key,
          text.replace('{{ $labels.instance }}', 'one').replace('{{ $value }}', '2'),
        ]);
        return {
          eval_time: at,
          alertname,
          exp_alerts: [{ exp_labels: labels, exp_annotations: Object.fromEntries(filledIn) }],
        };
      };
      const one = { job: 'conversation-service', instance: 'one' };
      const path = join(temporary, 'alerts.test.yml');
      const scenario = (input: object[], expected: object[], silent: string[]) => ({
        interval: '30s',
        input_series: input,
        alert_rule_test: [
          ...expected,
          ...silent.map((alertname) => ({ eval_time: '20m', alertname, exp_alerts: [] })),
        ],
      });
      const up = 'up{job="conversation-service", instance="one"}';
      const tests = [
        scenario(
          [
            series(up, '0x60'),
            series(
              'conversation_service_store_fault{job="conversation-service", instance="one"}',
              '1x60',
            ),
            series(
              'conversation_service_subscriptions{job="conversation-service", status="failing"}',
              '2x60',
            ),
          ],
          [
            alert('ServiceGone', { severity: 'page', ...one }, '5m'),
            alert('StoreCannotWrite', { severity: 'page', ...one }, '5m'),
            alert('SubscriptionFailing', { severity: 'ticket' }, '15m'),
          ],
          ['DeliveryLoopHangs', 'NoWorker'],
        ),
        scenario(
          [
            series(up, '1x60'),
            series(
              'conversation_service_store_fault{job="conversation-service", instance="one"}',
              '0x60',
            ),
          ],
          [],
          rules.map((rule) => rule.alert),
        ),
        scenario(
          [
            series('up{job="conversation-service", role="api"}', '1x60'),
            series('up{job="conversation-service", role="worker"}', '0x60'),
          ],
          [alert('NoWorker', { severity: 'page' }, '5m')],
          ['StoreCannotWrite'],
        ),
        scenario(
          [
            series('up{job="conversation-service", role="api"}', '1x60'),
            series('up{job="conversation-service", role="worker"}', '1x60'),
          ],
          [],
          ['NoWorker', 'ServiceGone'],
        ),
      ];
      await writeFile(
        path,
        JSON.stringify({ rule_files: [file('alerts.yml')], evaluation_interval: '30s', tests }),
      );
      const done = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
      const output = done.stdout + done.stderr; // says which alert it is about
      expect({ status: done.status, output }).toEqual({ status: 0, output: expect.any(String) });
    },
  );

  it('says of each alert how bad it is and what to do, and gives each panel an id of its own', () => {
    for (const { alert, labels, annotations } of rules) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)]);
      expect([alert, annotations.what_to_do]).toEqual([alert, expect.any(String)]);
    }
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});
