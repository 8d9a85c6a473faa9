import { badge } from '../../platform/html/components.ts';
import type { View } from '../../platform/html/html.ts';
import type { ToolCall, ToolCallStatus } from '../calls/toolCall.ts';

const CALL_LABELS: Readonly<Record<ToolCallStatus, string>> = {
  pending_approval: 'needs approval',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  rejected: 'rejected',
  expired: 'expired',
  cancelled: 'cancelled',
};

const CALL_TONES = { succeeded: 'good', failed: 'bad', pending_approval: 'attention' } as const;

export const callBadge = ({ status }: ToolCall): View =>
  badge(
    CALL_LABELS[status],
    status in CALL_TONES ? CALL_TONES[status as keyof typeof CALL_TONES] : '',
  );
