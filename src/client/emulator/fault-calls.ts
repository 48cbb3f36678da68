/** The control API's part for faults: what the emulator makes fail on purpose. */
import type { FaultBody, FaultListBody, FaultsClearedBody, FaultWish } from '../bodies.ts';
import type { ControlSend } from '../control-send.ts';

export const faultCalls = (send: ControlSend) => ({
  /** Those that are set, and the seams with their effects. */
  list: () => send<FaultListBody>('GET', '/faults'),
  /** `{seam: 'node', effect: 'slow:300ms', times: 3, for: '10m'}`; without an effect, the seam's first. */
  set: (wish: FaultWish) => send<FaultBody>('POST', '/faults', wish),
  /** `name`: id of a fault, or a seam; without it, all. */
  clear: (name?: string) =>
    send<FaultsClearedBody>('DELETE', name === undefined ? '/faults' : `/faults/${encodeURIComponent(name)}`),
});
