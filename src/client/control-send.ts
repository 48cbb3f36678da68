/** How the calls of the control API leave. */
import type { Reply } from './reply.ts';

/** Sends one call to the control host; the path is appended to its base. */
export type ControlSend = <Body>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
) => Promise<Reply<Body>>;
