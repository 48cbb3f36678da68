/**
 * What may be sent on behalf of a user, as data: everything that is not listed is refused. The call runs as the gas
 * wallet, so a function is listed only when its argument says whose property is touched, and that must be the user's.
 */

export type ContractName = 'token' | 'escrow' | 'perks' | 'pointsSale';

/** One function that may be called, by its whole signature. */
interface AllowedFunction {
  /** Position of the argument that must be the user's address. */
  userArgument: number;
  /** Native currency that may go with it. */
  valueMaxWei: bigint;
  /**
   * The most gas that is paid for: what it needs at its dearest, refunds included, and a quarter more. A buyer with
   * code is called back, and what it does then is paid for too.
   */
  gasMax: number;
  /** Position of the perk that is bought: its brand pays the gas. */
  perkArgument?: number;
  /** Positions of the recipient and the amount: a transfer that moves nothing is not paid for. */
  moves?: { to: number; amount: number };
}

const boundTo = (
  userArgument: number,
  more: Omit<AllowedFunction, 'userArgument' | 'valueMaxWei'>,
): AllowedFunction => ({ userArgument, valueMaxWei: 0n, ...more });

export const PERMIT = 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)';

/**
 * pointsSale stays a target that the contract of the API knows, but has no function for users: its functions need a role,
 * and the functions of the others that are missing here move the caller's property, and the caller is the gas wallet.
 */
export const relayPolicy: Record<ContractName, Record<string, AllowedFunction>> = {
  token: {
    // The owner signed it (ERC-3009): the account that submits it cannot change anything in it.
    'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)':
      boundTo(0, { gasMax: 150_000, moves: { to: 1, amount: 2 } }),
    'cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)': boundTo(0, { gasMax: 100_000 }),
    [PERMIT]: boundTo(0, { gasMax: 120_000 }),
  },
  perks: {
    'purchaseFor(address,uint256,uint256)': boundTo(0, { gasMax: 220_000, perkArgument: 1 }),
    'purchaseWithPermit(address,uint256,uint256,uint256,uint8,bytes32,bytes32)': boundTo(0, {
      gasMax: 240_000,
      perkArgument: 1,
    }),
  },
  escrow: {
    // The signer of the permit is the brand that is paid: a user's own tokens become the user's own balance.
    'depositWithPermit(address,uint256,uint256,uint8,bytes32,bytes32)': boundTo(0, { gasMax: 200_000 }),
  },
  pointsSale: {},
};

/** A call as its bytes were understood. */
interface RelayCall {
  contract: ContractName;
  /** For example `purchaseFor(address,uint256,uint256)`; undefined when the contract has no such function. */
  signature: string | undefined;
  args: readonly unknown[];
  valueWei: bigint;
}

type PolicyRefusal =
  | { reason: 'unknown_function' }
  | { reason: 'function_not_allowed'; function: string }
  | { reason: 'not_the_user'; function: string; argument: number }
  | { reason: 'value_not_allowed'; maxWei: string }
  /** The call would change nothing. */
  | { reason: 'moves_nothing'; function: string; because: 'zero_amount' | 'to_self' };

/** What a trial of the call on the newest state may show. */
export type TrialRefusal =
  | { reason: 'permit_not_of_user' }
  | { reason: 'permit_spender_not_allowed'; spender: `0x${string}` }
  | { reason: 'permit_not_signed' }
  | { reason: 'permit_expired'; deadlineSeconds: string }
  /** The permit was used already, and the allowance that it left is too small. */
  | { reason: 'permit_consumed'; allowance: string; error: string }
  | { reason: 'would_fail'; part: 'permit' | 'call'; error: string }
  | { reason: 'needs_too_much_gas'; function: string; gasNeeded: number; gasMax: number };

/** Why a call was not sent. */
export type ValidationProblem =
  | PolicyRefusal
  | TrialRefusal
  | { reason: 'not_your_wallet' }
  | { reason: 'gas_over_limit'; gasLimit: number; gasMax: number }
  | { reason: 'gas_below_need'; gasLimit: number; gasMin: number }
  | { reason: 'gas_price_over_limit'; capWei: string }
  /** The buyer lacks what the brand asks of buyers of this perk. */
  | { reason: 'constraints_not_met'; missing: { type: string; reason: string; message: string }[] };

const DIGIT_0 = '0'.charCodeAt(0);

/** What a transaction with this data costs before anything of it runs (EIP-2028, and EIP-7623's floor). */
export function gasOfData(data: string): number {
  const bytes = Math.floor((data.length - 2) / 2);
  let zeros = 0;
  for (let at = 2; at + 1 < data.length; at += 2) {
    if (data.charCodeAt(at) === DIGIT_0 && data.charCodeAt(at + 1) === DIGIT_0) zeros += 1;
  }
  return 21_000 + 10 * (zeros + 4 * (bytes - zeros));
}

const allowedFunction = (contract: ContractName, signature: string): AllowedFunction | undefined =>
  Object.hasOwn(relayPolicy[contract], signature) ? relayPolicy[contract][signature] : undefined;

/** The most gas that is paid for a call of this function; 0 when it may not be called. */
export const gasMaxOf = (contract: ContractName, signature: string): number =>
  allowedFunction(contract, signature)?.gasMax ?? 0;

/** The perk that a call buys; undefined for other calls. */
export function perkBought({
  contract,
  signature = '',
  args,
}: Omit<RelayCall, 'valueWei'>): bigint | undefined {
  const place = allowedFunction(contract, signature)?.perkArgument;
  const perkId = place === undefined ? undefined : args[place];
  return typeof perkId === 'bigint' ? perkId : undefined;
}

/** The most gas that a call may take, its permit included. */
export const dearestCallGas =
  Math.max(...Object.values(relayPolicy).flatMap((of) => Object.values(of).map(({ gasMax }) => gasMax))) +
  (relayPolicy.token[PERMIT]?.gasMax ?? 0);

/** Why the call may not be sent for this user (lower case); undefined when it may. */
export function refuseCall(call: RelayCall, userAddress: string): PolicyRefusal | undefined {
  const { contract, signature, args, valueWei } = call;
  if (signature === undefined) return { reason: 'unknown_function' };
  const allowed = allowedFunction(contract, signature);
  if (!allowed) return { reason: 'function_not_allowed', function: signature };
  const named = args[allowed.userArgument];
  if (typeof named !== 'string' || named.toLowerCase() !== userAddress) {
    return { reason: 'not_the_user', function: signature, argument: allowed.userArgument };
  }
  if (valueWei > allowed.valueMaxWei) {
    return { reason: 'value_not_allowed', maxWei: String(allowed.valueMaxWei) };
  }
  const { moves } = allowed;
  if (moves && args[moves.amount] === 0n)
    return { reason: 'moves_nothing', function: signature, because: 'zero_amount' };
  if (moves && String(args[moves.to]).toLowerCase() === userAddress)
    return { reason: 'moves_nothing', function: signature, because: 'to_self' };
  return undefined;
}
