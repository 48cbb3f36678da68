/** What came of sending a request again. */
import type { Difference } from '../../talk/requests/diff.ts';
import type { Effects, ExpectedEffects } from '../../talk/requests/effects.ts';
import type { Answered } from '../../talk/requests/send-again.ts';

export interface Replayed {
  /** Of the original. */
  id: string;
  answers: (Answered & {
    /** With --diff: where it is not as the original; null when the log has forgotten it already. */
    differences?: Difference[] | null;
  })[];
  /** Null when nobody asked for them. */
  effects: Effects | null;
  expected: ExpectedEffects | null;
}
