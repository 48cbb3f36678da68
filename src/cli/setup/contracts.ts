/** `rewards contracts deploy|show`. */
import type { ContractsOptions, DeployOptions } from '../../production/contracts/contracts-command.ts';
import type { DeploymentPlan } from '../../production/contracts/deploy-contracts.ts';
import { deployedText, native, needsText, planText } from '../contracts/view.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { problemOf, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { ledgerSecrets } from '../machine/setting-options.ts';

export interface NodeOptions {
  rpcUrl?: string;
  rpcUrlFile?: string[];
}

export const surroundings = ({ runtime }: CommandContext, options: NodeOptions) => ({
  cwd: runtime.cwd,
  env: runtime.env,
  nodes: ledgerSecrets({ ...options, allowSqlite: false }).nodes,
});

type DeployGiven = Omit<DeployOptions, 'gasMoney'> &
  NodeOptions & { gasMoney?: number; plan?: boolean; apply?: boolean };

export const deployContracts: Handler<DeployGiven> = async (context, options) => {
  if (Boolean(options.plan) === Boolean(options.apply)) {
    throw usageError(
      'Say either --plan or --apply.',
      '--plan prints every transaction and sends nothing; --apply sends them.',
    );
  }
  const { deploymentWish, openNodes } = await import('../../production/contracts/contracts-command.ts');
  const { applyDeployment, planDeployment } = await import('../../production/contracts/deploy-contracts.ts');
  const { readContractsFile } = await import('../../production/contracts/contracts-file.ts');
  const around = surroundings(context, options);
  const { wish, signer, contractsFile } = await deploymentWish(
    { ...options, gasMoney: options.gasMoney ?? 0 },
    around,
  );
  const problems: string[] = [];
  const deployed = await readContractsFile(contractsFile, (problem) => problems.push(problem));
  if (problems.length > 0)
    return { ok: false, error: problemOf('E_DEPLOYMENT', { message: problems.join('\n') }) };
  if (deployed) {
    const data = { contracts: deployed, sent: 0 };
    return { ok: true, data, text: (style) => deployedText(deployed, { contractsFile, style }) };
  }
  const deps = await openNodes(around, wish.chainId);
  const plan = await planDeployment(deps, wish, contractsFile);
  if (options.plan) return planned(plan);
  const poor = tooPoor(plan);
  if (poor) return poor;
  context.note(planText(plan, context.style.stderr));
  const done = await applyDeployment({ ...deps, signer }, plan, {
    contractsFile,
    onStep: (place, title) => context.note(`${place + 1} of ${plan.steps.length}  ${title}`),
  });
  const data = { contracts: done, sent: plan.steps.length };
  return { ok: true, data, text: (style) => deployedText(done, { contractsFile, style }) };
};

function planned(plan: DeploymentPlan): CommandResult {
  const { addresses, costMaxWei, balanceWei, state } = plan;
  const data = {
    deployer: state.accounts.deployer,
    admin: state.accounts.admin,
    contracts: addresses,
    steps: plan.steps.map(({ title, nonce, to, value, gas }, place) => ({
      title,
      nonce,
      to: to ?? null,
      valueWei: String(value),
      gasMax: String(gas),
      offered: (state.steps[place]?.offers.length ?? 0) > 0,
    })),
    costMaxWei: String(costMaxWei),
    balanceWei: String(balanceWei),
  };
  return { ok: true, data, text: (style) => planText(plan, style) };
}

/** Without gas money for all of it, a deployment would stop in the middle. */
function tooPoor({ isBegun, costMaxWei, balanceWei, state }: DeploymentPlan): CommandResult | undefined {
  if (isBegun || balanceWei >= costMaxWei) return undefined;
  const message = `The deployer ${state.accounts.deployer} has ${native(balanceWei)} of the chain's currency; the deployment may take ${native(costMaxWei)}.`;
  return {
    ok: false,
    error: problemOf('E_DEPLOYMENT', { message, fix: 'Send it the difference, then run the command again.' }),
  };
}

export const showContracts: Handler<ContractsOptions & NodeOptions> = async (context, options) => {
  const { openNodes, sendingAccounts, whichContracts } = await import(
    '../../production/contracts/contracts-command.ts'
  );
  const { allNeeds } = await import('../../production/contracts/needs.ts');
  const around = surroundings(context, options);
  const { chainId, contracts } = await whichContracts(options, around.cwd);
  const { rpc } = await openNodes(around, chainId);
  const accounts = await sendingAccounts(options, around);
  const needs = await allNeeds({ rpc, contracts }, accounts);
  const missing = needs.filter(({ met }) => !met);
  const data = { ok: missing.length === 0, chainId, contracts, accounts, needs };
  if (data.ok) return { ok: true, data, text: (style) => needsText(needs, style) };
  const message = missing.map(({ problem }) => problem).join('\n');
  return {
    ok: false,
    error: problemOf('E_PROBLEMS', { message, fix: missing.map(({ fix }) => fix).join('\n') }),
    data,
    text: (style) => needsText(needs, style),
  };
};

export const sendTransaction: Handler<
  NodeOptions & { to: `0x${string}`; data: `0x${string}`; keyFile: string; chainId?: number }
> = async (context, options) => {
  const { to, data, keyFile, chainId } = options;
  if (chainId === undefined || !/^0x[0-9a-f]{40}$/i.test(to) || !/^0x[0-9a-f]*$/i.test(data)) {
    throw usageError(
      'An address, bytes and --chain-id are needed.',
      'Give both arguments as hex digits after 0x, and set REWARDS_CHAIN_ID.',
    );
  }
  const { openNodes, signerOf } = await import('../../production/contracts/contracts-command.ts');
  const sending = await import('../../production/contracts/send-transaction.ts');
  const around = surroundings(context, options);
  const signer = await signerOf(keyFile, around.cwd);
  const sent = await sending.sendTransaction({ ...(await openNodes(around, chainId)), signer }, { to, data });
  return {
    ok: true,
    data: sent,
    text: (style) => `${style.green('done')}  ${sent.hash} in block ${sent.block}`,
  };
};
