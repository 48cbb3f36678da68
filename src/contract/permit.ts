/** EIP-2612 permits as they come in requests, and whole numbers as wallets' libraries spell them. */
import { z } from 'zod';
import type { Hex } from '../lib/hex.ts';
import { addressField } from './shapes.ts';

const UINT256_MAX = 2n ** 256n - 1n;
const word = (what: string) =>
  z
    .string({ error: 'must be 0x and 64 hex digits' })
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex digits')
    .transform((text) => text.toLowerCase() as Hex)
    .meta({ description: what });
/** A whole number in any spelling of wallets' libraries: decimal digits, or 0x and hex digits; a number where it is exact. */
export const wholeText = z.string().regex(/^(?:[0-9]{1,78}|0x[0-9a-fA-F]{1,64})$/);
export const amount = (what: string) =>
  z
    .union([wholeText, z.int().min(0)], {
      error: 'must be decimal digits, or 0x and hex digits, as a text',
    })
    .transform(BigInt)
    .refine((value) => value <= UINT256_MAX, 'must be below 2^256')
    .meta({ description: what });

/** 0 and 1 mean 27 and 28. */
const V_VALUES: readonly number[] = [0, 1, 27, 28];
const V_TEXT = /^(?:0*(?:[01]|2[78])|0x0*(?:[01]|1[bBcC]))$/;

export const permitField = z
  .object({
    owner: addressField("The user's wallet."),
    spender: addressField('The contract that may take tokens.'),
    value: amount('How many tokens it may take.'),
    deadline: amount('When the permit expires, in seconds since 1970.'),
    v: z
      .union([z.string().regex(V_TEXT).transform(Number), z.literal(V_VALUES).meta({ id: 'RecoveryId' })], {
        error: 'must be 27 or 28',
      })
      .transform((v): 27 | 28 => (v % 27 === 0 ? 27 : 28))
      .meta({ description: 'v of the signature: 27 or 28; 0 and 1 mean the same.' }),
    r: word('r of the signature.'),
    s: word('s of the signature.'),
  })
  .transform(({ deadline, ...permit }) => ({ ...permit, deadlineSeconds: deadline }))
  .meta({ id: 'Permit', description: 'An EIP-2612 permit of the reward token, signed by its owner.' });
