/** The queue of the clean-up. It holds one job for ever, which says when the next sweep is due. */
export const HOUSEKEEPING_QUEUE = 'housekeeping';

/** Id and group of that job: of several processes one sweeps at a time. */
export const HOUSEKEEPING_JOB = 'housekeeping';
