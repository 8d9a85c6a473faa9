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

/** When alerts are looked for; each metric below has its value for an hour, every 30 seconds. */
const AT = '50m';
const one = { job: 'conversation-service', instance: 'one' };

interface Trouble {
  /** In Prometheus' notation for tests: `2x120`, or `0+10x120` for a count that rises. */
  readonly series: readonly (readonly [metric: string, troubled: string, healthy: string])[];
  /** The labels of the alert, beside its severity. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The value as its summary shows it. */
  readonly value?: string;
}

const inOne = (metric: string) => `${metric}{job="conversation-service", instance="one"}`;
/** Every alert but NoWorker, which is about several processes. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  ServiceGone: {
    series: [[inOne('up'), '0x120', '1x120']],
    labels: one,
  },
  StoreCannotWrite: {
    series: [[inOne('conversation_service_store_fault'), '1x120', '0x120']],
    labels: one,
  },
  DeliveryLoopHangs: {
    series: [[inOne('conversation_service_delivery_loop_idle_seconds'), '60x120', '1x120']],
    labels: one,
    value: '1m 0s',
  },
  DeliveriesLate: {
    series: [
      ['conversation_service_queue_oldest_due_age_seconds{queue="deliveries"}', '600x120', '3x120'],
    ],
    value: '10m 0s',
  },
  RequestsFail: {
    series: [
      [
        'conversation_service_http_request_duration_seconds_count{status_class="5xx"}',
        '0+10x120',
        '0+1x120',
      ],
      [
        'conversation_service_http_request_duration_seconds_count{status_class="2xx"}',
        '0+90x120',
        '0+99x120',
      ],
    ],
    value: '10%',
  },
  MemoryFills: {
    series: [
      [inOne('conversation_service_store_memory_live_bytes'), '101x120', '99x120'],
      [inOne('conversation_service_store_memory_visitors_mark_bytes'), '100x120', '100x120'],
    ],
    labels: one,
  },
  SubscriptionFailing: {
    series: [['conversation_service_subscriptions{status="failing"}', '2x120', '0x120']],
    value: '2',
  },
  AgentTurnsFail: {
    series: [['conversation_service_agent_turns_total{outcome="failed"}', '0+1x120', '5x120']],
  },
  TurnsParked: {
    series: [['conversation_service_agent_turns_open{status="parked"}', '3x120', '0x120']],
    value: '3',
  },
  SnapshotsFail: {
    series: [
      [inOne('conversation_service_store_journal_bytes'), '536870912x120', '536870912x120'],
      [inOne('conversation_service_store_snapshot_bytes'), '67108864x120', '536870912x120'],
    ],
    labels: one,
    value: '512Mi',
  },
  BoundReached: {
    series: [
      ['conversation_service_bound_reached_total{bound="visitor_messages"}', '0+10x120', '0+1x120'],
    ],
    labels: { bound: 'visitor_messages' },
    value: '300',
  },
  EventLoopSlow: {
    series: [[inOne('nodejs_eventloop_lag_p99_seconds'), '0.5x120', '0.01x120']],
    labels: one,
  },
};

/** What promtool expects of an alert that fires. */
function fired(alertname: string) {
  const { annotations, labels: own } = rules.find(({ alert }) => alert === alertname)!;
  const { labels = {}, value = '' } = TROUBLES[alertname] ?? {};
  const filledIn = Object.entries(annotations).map(([key, text]) => [
    key,
    text
      .replace(/\{\{ \$labels\.(\w+) \}\}/, (_, label: string) => labels[label] ?? '')
      .replace(/\{\{ \$value.*? \}\}/, value),
  ]);
  const expected = {
    exp_labels: { ...own, ...labels },
    exp_annotations: Object.fromEntries(filledIn),
  };
  return { eval_time: AT, alertname, exp_alerts: [expected] };
}

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

  withPromtool('fires each alert in its trouble, and none while all is well', async () => {
    const metrics = Object.values(TROUBLES).flatMap(({ series }) => series);
    const withMetrics = (isTroubled: boolean) =>
      metrics.map(([series, troubled, healthy]) => ({
        series,
        values: isTroubled ? troubled : healthy,
      }));
    const withProcesses = (worker: string) =>
      Object.entries({ api: '1x120', worker }).map(([role, values]) => ({
        series: `up{job="conversation-service", role="${role}"}`,
        values,
      }));
    const silent = (alertname: string) => ({ eval_time: AT, alertname, exp_alerts: [] });
    const names = rules.map(({ alert }) => alert);
    expect(names.toSorted()).toEqual([...Object.keys(TROUBLES), 'NoWorker'].sort());
    const tests = [
      [withMetrics(true), [...Object.keys(TROUBLES).map(fired), silent('NoWorker')]],
      [withMetrics(false), names.map(silent)],
      [withProcesses('0x120'), [fired('NoWorker')]],
      [withProcesses('1x120'), names.map(silent)],
    ].map(([series, expected]) => ({
      interval: '30s',
      input_series: series,
      alert_rule_test: expected,
    }));
    const path = join(temporary, 'alerts.test.yml');
    await writeFile(
      path,
      JSON.stringify({ rule_files: [file('alerts.yml')], evaluation_interval: '30s', tests }),
    );
    const done = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
    const output = done.stdout + done.stderr; // says which alert it is about
    expect({ status: done.status, output }).toEqual({ status: 0, output: expect.any(String) });
  });

  it('says of each alert how bad it is and what to do, and gives each panel an id of its own', () => {
    for (const { alert, labels, annotations } of rules) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)]);
      expect([alert, annotations.what_to_do]).toEqual([alert, expect.any(String)]);
    }
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});
