/** The four contracts' ABIs by the names that the API and the command line call them. */
import type { Abi } from 'viem';
import type { ContractName } from '../../../rules/relay-policy.ts';
import { businessEscrowAbi, perkNFTAbi, pointsSaleAbi, rewardTokenAbi } from '../abis.ts';

export const abisByName: Record<ContractName, Abi> = {
  token: rewardTokenAbi,
  escrow: businessEscrowAbi,
  perks: perkNFTAbi,
  pointsSale: pointsSaleAbi,
};
