/** The port to observers of requests: metrics in production, the request log in the emulator. */
import type { RequestRecord } from './request-record.ts';

export interface Observer {
  /** Told of every request with its bodies, once it is answered; without it bodies are not copied. */
  request?: (record: RequestRecord) => void;
  /** The records have no bodies, which need not be copied then. */
  withoutBodies?: boolean;
  /** Told what was decided about each event: `rewarded`, or the code of the refusal. */
  event?: (outcome: string) => void;
  /** Told what became of each relayed call: `confirmed`, or the code of the refusal. */
  relay?: (outcome: string) => void;
}
