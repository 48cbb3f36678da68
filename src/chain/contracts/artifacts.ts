/** The compiled contracts: bytecode to deploy, and what of the deployed code may differ from one deployment to the next. */
import { type Hex, keccak256 } from 'viem';
import businessEscrow from './artifacts/BusinessEscrow.json' with { type: 'json' };
import perkNft from './artifacts/PerkNFT.json' with { type: 'json' };
import pointsSale from './artifacts/PointsSale.json' with { type: 'json' };
import rewardToken from './artifacts/RewardToken.json' with { type: 'json' };

export type Artifact = {
  readonly contractName: string;
  readonly bytecode: Hex;
  readonly deployedBytecode: Hex;
  /** Start and length in bytes of the values that the constructor writes into the deployed code. */
  readonly immutables: readonly (readonly [startByte: number, lengthBytes: number])[];
};

export const rewardTokenArtifact = typed(rewardToken);
export const businessEscrowArtifact = typed(businessEscrow);
export const perkNftArtifact = typed(perkNft);
export const pointsSaleArtifact = typed(pointsSale);

/** Builds of earlier versions of this program: hashes of their code with zeros for what the constructor writes. */
const EARLIER_BUILDS = [
  {
    // PerkNFT without redemptions.
    codeHash: '0x1d23c787b1728a8eb94a0901a8cee624652279ce662328a9417690796d7d797a',
    immutables: [1617, 4654, 5211, 6737, 6806].map((startByte) => [startByte, 32] as const),
  },
] as const;

/** The token of earlier versions, whose redeemer collects without a cap, and never spends an allowance. */
const TOKEN_WITHOUT_COLLECT_CAP = {
  codeHash: '0xc1785d74ff6c2e08b0e4263bfde0f3ce57cd965340bb1f3c3762f7be87ab217e',
  immutables: [2600, 2641, 6734, 6781, 6860, 6898, 6970].map((startByte) => [startByte, 32] as const),
};

/** The PerkNFT of earlier versions, which takes no permit with a redemption. */
const PERKS_WITHOUT_PERMITS = {
  codeHash: '0xd858f4699d6d226c39216fb71d02184e61a3f0da52081ff2f3e65bed1c4b8874',
  immutables: [1732, 5510, 6545, 7881, 8593, 8662].map((startByte) => [startByte, 32] as const),
};

/** What the token with this code does when RWT is collected; undefined for any other code. */
export function collectingOf(code: Hex): 'capped' | 'uncapped' | undefined {
  if (isCodeOf(rewardTokenArtifact, code)) return 'capped';
  return isBuild(TOKEN_WITHOUT_COLLECT_CAP, code) ? 'uncapped' : undefined;
}

/** Whether the PerkNFT with this code takes permits with redemptions; undefined for any other code. */
export function redeemingOf(code: Hex): 'with-permits' | 'without-permits' | undefined {
  if (isCodeOf(perkNftArtifact, code)) return 'with-permits';
  return isBuild(PERKS_WITHOUT_PERMITS, code) ? 'without-permits' : undefined;
}

/** Whether the code found on chain is a contract of an earlier version, which lacks what this one needs. */
export const isEarlierCode = (code: Hex): boolean => EARLIER_BUILDS.some((build) => isBuild(build, code));

const isBuild = (build: Pick<Artifact, 'immutables'> & { codeHash: string }, code: Hex): boolean =>
  keccak256(masked(build, code) as Hex) === build.codeHash;

/** Whether the code found on chain is this contract's, whatever its constructor arguments were. */
export function isCodeOf(artifact: Artifact, code: Hex): boolean {
  return (
    code.length === artifact.deployedBytecode.length && masked(artifact, code) === artifact.deployedBytecode
  );
}

function masked({ immutables }: Pick<Artifact, 'immutables'>, code: Hex): string {
  let result: string = code;
  for (const [startByte, lengthBytes] of immutables) {
    const start = 2 + startByte * 2;
    const end = start + lengthBytes * 2;
    result = result.slice(0, start) + '0'.repeat(end - start) + result.slice(end);
  }
  return result;
}

function typed(json: {
  contractName: string;
  bytecode: string;
  deployedBytecode: string;
  immutables: number[][];
}): Artifact {
  return {
    contractName: json.contractName,
    bytecode: json.bytecode as Hex,
    deployedBytecode: json.deployedBytecode as Hex,
    immutables: json.immutables.map(([startByte = 0, lengthBytes = 0]) => [startByte, lengthBytes] as const),
  };
}
