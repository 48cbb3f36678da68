/** The step that gives an account code of its own: a smart account that accepts what it is sent, or refuses it. */
import { z } from 'zod';
import { setCode } from '../../client/chain/chain-view.ts';
import type { Hex } from '../../lib/hex.ts';
import { StepError, userNamed } from './step-context.ts';
import { stepKind, text, userField } from './step-kind.ts';

/** What an account does whenever a contract calls it, whatever it is asked; `none` makes it an ordinary wallet again. */
const codes = {
  // return(onERC1155Received.selector): PUSH4 f23a6e61, shifted to the left, in memory, RETURN.
  accepts: '0x63f23a6e6160e01b60005260206000f3',
  // revert(): PUSH1 0 PUSH1 0 REVERT.
  reverts: '0x60006000fd',
  // A loop without end: JUMPDEST PUSH1 0 JUMP.
  'burns-gas': '0x5b600056',
  // return(~0): 32 bytes of ones.
  'answers-rubbish': '0x60001960005260206000f3',
  none: '0x',
} as const satisfies Record<string, Hex>;
const kinds = Object.keys(codes) as (keyof typeof codes)[];

/** What a node keeps as the code of one account (EIP-170). */
const CODE_MAX_BYTES = 24_576;

export const code = stepKind({
  about: 'Gives an account code of its own, as smart accounts have it',
  needs: 'code',
  sees: { address: 'of the account', code: 'that it has now' },
  input: z
    .strictObject({
      of: userField().meta({ description: 'a user, as elsewhere, or an address' }),
      kind: z
        .enum(kinds, { error: `must be one of ${kinds.join(', ')}` })
        .meta({
          description:
            '`accepts` perks, `reverts`, `burns-gas`, `answers-rubbish`, or `none`: an ordinary wallet again',
        })
        .optional(),
      bytecode: text('the code itself, in place of a kind: 0x and hex digits')
        .regex(/^0x([0-9a-fA-F]{2})+$|\$\{/, 'must be 0x and an even number of hex digits')
        .max(2 + 2 * CODE_MAX_BYTES, `must be at most ${CODE_MAX_BYTES} bytes, as EIP-170 has it`)
        .optional(),
    })
    .refine((wish) => 'kind' in wish !== 'bytecode' in wish, 'takes either a `kind` or `bytecode`'),
  async run(context, { of, kind, bytecode }) {
    const { rpcUrl } = context.target;
    if (rpcUrl === undefined) throw new StepError('this target does not tell the address of its chain');
    const isAddress = /^0x[0-9a-fA-F]{40}$/.test(of);
    const { address } = isAddress ? { address: of } : await context.walletOf(userNamed(context, of));
    const given = kind === undefined ? (bytecode as Hex) : codes[kind];
    await setCode(rpcUrl, { address, code: given });
    return { address, code: given };
  },
});
