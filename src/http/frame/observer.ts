/** The port to what observes requests: metrics and traces in production, the request log in the emulator. */
import type { RequestRecord } from './request-record.ts';

export interface Observer {
  /** Told of every request once it is answered, with what it decided; without it bodies are not copied. */
  request?: (record: RequestRecord) => void;
  /** The records have no bodies, which need not be copied then. */
  withoutBodies?: boolean;
}
