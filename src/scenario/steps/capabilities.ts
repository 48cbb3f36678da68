/** What targets can do, and what steps see. */

/** What only some targets have. */
export const capabilities = {
  clock: 'a clock that can be moved: a stack of the emulator',
  payments: 'the emulated payment processor',
  chain: 'the address of its chain',
  code: 'accounts that can be given code: a stack of the emulator',
  site: 'the demo site',
  inbox: 'the built-in receiver of webhooks',
  users: 'users whose keys are known: a stack of the emulator',
  controls: 'the control API of the emulator',
  snapshots: 'snapshots: a stack of the emulator',
  faults: 'faults: a stack of the emulator',
} as const;
export type Capability = keyof typeof capabilities;

/** What a step saw, for `expect`, `save` and later steps. */
export type Seen = Record<string, unknown>;
