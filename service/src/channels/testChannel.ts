import type { ConnectionTest, SetupValues } from '../platform/accounts/accountSetup.ts';
import type { Deps } from '../platform/deps.ts';
import { getChannel } from './operations/channels.ts';
import { testConnection } from '../platform/accounts/testConnection.ts';
import type { Workspace } from '../team/index.ts';
import type { ChannelsConfig } from './channelAdapter.ts';
import { connectedChannel } from './registry.ts';

/** How much longer than `timeoutMs`, which limits each of its requests, a whole test may take. */
const TEST_MARGIN_MS = 5000;

/** Asks a channel whether it accepts an account's keys. @throws not_found (404) */
export async function testChannel(
  deps: Deps,
  config: ChannelsConfig,
  workspace: Workspace,
  id: string,
): Promise<ConnectionTest> {
  const channel = await getChannel(deps, workspace, id);
  const { label, test } = connectedChannel(channel.type);
  const signal = AbortSignal.timeout(config.timeoutMs + TEST_MARGIN_MS);
  const ask = (values: SetupValues) =>
    test({ channel, values }, { config, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return { ok: false, message: `${label} did not answer in time. Try again.` };
    });
  return testConnection(deps, channel, (tx) => tx.channels, ask);
}
