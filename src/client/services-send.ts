/** How the calls of the services host leave. */
import type { Reply } from './reply.ts';

export type ServicesSend = <Body>(wish: {
  host: 'services';
  path: string;
  method: string;
  body?: unknown;
  headers?: Record<string, string>;
}) => Promise<Reply<Body>>;

export interface ServicesOptions {
  headers?: Record<string, string>;
}
