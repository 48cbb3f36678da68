/** A deployment's plan, its result, and what contracts lack, for people. */
import type { ContractsFile } from '../../production/contracts/contracts-file.ts';
import type { DeploymentPlan } from '../../production/contracts/deploy-contracts.ts';
import type { Need } from '../../production/contracts/needs.ts';
import type { Style } from '../terminal/style.ts';

/** Wei in the chain's currency, to a billionth. */
export const native = (wei: bigint) => String(Number(wei / 1_000_000_000n) / 1e9);

export function planText(plan: DeploymentPlan, style: Style): string {
  const { steps, addresses, fees, costMaxWei, balanceWei, state } = plan;
  const { deployer, admin } = state.accounts;
  const lines = steps.map(({ title, to, value, gas, nonce }, place) => {
    const sent = (state.steps[place]?.offers.length ?? 0) > 0 ? style.dim('  sent before') : '';
    const where = to === undefined ? '' : style.dim(`  to ${to}`);
    const money = value > 0n ? `  ${native(value)}` : '';
    return `${String(place + 1).padStart(3)}  nonce ${nonce}  gas at most ${gas}  ${title}${money}${where}${sent}`;
  });
  const gwei = Number(fees.maxFeePerGas) / 1e9;
  return [
    `chain ${state.chainId}, deployer ${deployer}, admin in the end ${admin}`,
    ...lines,
    ...Object.entries(addresses).map(([name, at]) => `${name.padEnd(12)} ${at}`),
    `costs at most ${native(costMaxWei)} at ${gwei} gwei; the deployer has ${native(balanceWei)}`,
  ].join('\n');
}

export const deployedText = (
  contracts: ContractsFile,
  { contractsFile, style }: { contractsFile: string; style: Style },
): string =>
  [
    `${style.green('deployed')}  ${contractsFile}`,
    ...Object.entries(contracts).map(([name, value]) => `${name.padEnd(16)} ${value}`),
    style.dim(
      'for users who pay no gas, and for each gas wallet of a brand later: rewards contracts grant perks.RELAYER_ROLE ACCOUNT --key-file FILE',
    ),
  ].join('\n');

export const needsText = (needs: readonly Need[], style: Style): string =>
  needs
    .map(({ met, what, problem, fix, for: work }) =>
      met
        ? `${style.green('ok')}       ${what}`
        : `${style.red('missing')}  ${problem} ${style.dim(`(${work})`)}: ${fix}`,
    )
    .join('\n');
