/** Colours for one stream, and short forms of long values for people. */
import picocolors from 'picocolors';
import type { Environment } from '../../compose/env.ts';

export type Style = ReturnType<typeof picocolors.createColors>;
export type ColorChoice = 'auto' | 'always' | 'never';

export const plainStyle: Style = picocolors.createColors(false);

/** The flag decides, then NO_COLOR, FORCE_COLOR and TERM=dumb, then whether the stream is a terminal. */
export function wantsColor(wish: { choice: ColorChoice; env: Environment; isTTY: boolean }): boolean {
  if (wish.choice !== 'auto') return wish.choice === 'always';
  if (wish.env.NO_COLOR) return false;
  if (wish.env.FORCE_COLOR) return !['0', 'false'].includes(wish.env.FORCE_COLOR);
  return wish.isTTY && wish.env.TERM !== 'dumb';
}

export const styleFor = (wish: { choice: ColorChoice; env: Environment; isTTY: boolean }): Style =>
  picocolors.createColors(wantsColor(wish));

/** `0x7099…79C8`: enough of an address to tell it apart on the screen. */
export const shortAddress = (address: string) =>
  address.length > 12 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address;

/** `0xa1b2…`: the beginning of a transaction hash. */
export const shortHash = (hash: string) => (hash.length > 8 ? `${hash.slice(0, 6)}…` : hash);
