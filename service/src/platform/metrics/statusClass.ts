/** `2xx`, `3xx`, `4xx`, `5xx`; `none` when no answer came. */
export const statusClass = (statusCode: number | null): string =>
  statusCode === null ? 'none' : `${Math.floor(statusCode / 100)}xx`;
