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
}

const boundTo = (userArgument: number): AllowedFunction => ({ userArgument, valueMaxWei: 0n });

/**
 * pointsSale and escrow stay targets that the contract of the API knows, but have no function for users: their
 * functions move the caller's property, and here the caller is the gas wallet.
 */
export const relayPolicy: Record<ContractName, Record<string, AllowedFunction>> = {
  token: {
    // The owner signed it (ERC-3009): the account that submits it cannot change anything in it.
    'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)':
      boundTo(0),
    'cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)': boundTo(0),
  },
  perks: {
    'purchaseFor(address,uint256,uint256)': boundTo(0),
    'purchaseWithPermit(address,uint256,uint256,uint256,uint8,bytes32,bytes32)': boundTo(0),
  },
  escrow: {},
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
  | { reason: 'value_not_allowed'; maxWei: string };

/** What a trial of the call on the newest state may show. */
export type TrialRefusal =
  | { reason: 'permit_not_of_user' }
  | { reason: 'permit_spender_not_allowed'; spender: `0x${string}` }
  | { reason: 'permit_not_signed' }
  | { reason: 'permit_expired'; deadlineSeconds: string }
  /** The permit was used already, and the allowance that it left is too small. */
  | { reason: 'permit_consumed'; allowance: string; error: string }
  | { reason: 'would_fail'; part: 'permit' | 'call'; error: string };

/** Why a call was not sent. */
export type ValidationProblem =
  | PolicyRefusal
  | TrialRefusal
  | { reason: 'not_your_wallet' }
  | { reason: 'gas_over_limit'; gasLimit: number; gasMax: number }
  | { reason: 'gas_below_need'; gasLimit: number; gasMin: number }
  | { reason: 'gas_price_over_limit'; capWei: string };

/** What a transaction with this data costs before anything of it runs (EIP-2028, and EIP-7623's floor). */
export function gasOfData(data: string): number {
  const bytes = data.slice(2).match(/../g) ?? [];
  const zeros = bytes.filter((byte) => byte === '00').length;
  return 21_000 + 10 * (zeros + 4 * (bytes.length - zeros));
}

/** Why the call may not be sent for this user (lower case); undefined when it may. */
export function refuseCall(call: RelayCall, userAddress: string): PolicyRefusal | undefined {
  const { contract, signature, args, valueWei } = call;
  if (signature === undefined) return { reason: 'unknown_function' };
  const functions = relayPolicy[contract];
  const allowed = Object.hasOwn(functions, signature) ? functions[signature] : undefined;
  if (!allowed) return { reason: 'function_not_allowed', function: signature };
  const named = args[allowed.userArgument];
  if (typeof named !== 'string' || named.toLowerCase() !== userAddress) {
    return { reason: 'not_the_user', function: signature, argument: allowed.userArgument };
  }
  if (valueWei > allowed.valueMaxWei) {
    return { reason: 'value_not_allowed', maxWei: String(allowed.valueMaxWei) };
  }
  return undefined;
}
