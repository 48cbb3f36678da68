/** `rewards contracts deploy|send|grant|revoke|show`. */
import type { Hex } from '../../lib/hex.ts';
import type { ContractsOptions, DeployOptions } from '../../production/contracts/contracts-command.ts';
import type { DeploymentPlan } from '../../production/contracts/deploy-contracts.ts';
import type { ContractsFile } from '../../production/contracts/deployment-files.ts';
import type { Need } from '../../production/contracts/needs.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, problemOf, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { ledgerSecrets } from '../machine/shared-options.ts';
import type { Style } from '../terminal/style.ts';

interface NodeOptions {
  rpcUrl?: string;
  rpcUrlFile?: string[];
}

const surroundings = ({ runtime }: CommandContext, options: NodeOptions) => ({
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
  const { readContractsFile } = await import('../../production/contracts/deployment-files.ts');
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

export const changeRole: Handler<
  ContractsOptions &
    NodeOptions & { verb: 'grant' | 'revoke'; role: string; account: Hex; keyFile?: string; plan?: boolean }
> = async (context, options) => {
  const { verb, account, keyFile } = options;
  const { openNodes, signerOf, whichContracts } = await import(
    '../../production/contracts/contracts-command.ts'
  );
  const { roleChange } = await import('../../production/contracts/contracts-command.ts');
  if (!/^0x[0-9a-f]{40}$/i.test(account))
    throw usageError(`${account} is not an address.`, 'Write 0x and 40 hexadecimal digits.');
  const around = surroundings(context, options);
  const { chainId, contracts } = await whichContracts(options, around.cwd);
  const change = roleChange(verb, { words: options.role, account, contracts });
  if ('roles' in change)
    throw usageError(`${options.role} is not one role.`, `Name one of ${change.roles.join(', ')}.`);
  const { contract, role, call } = change;
  const data = { verb, contract, role, account, chainId, transaction: call };
  if (options.plan || keyFile === undefined) return plannedChange(data);

  const nodes = await openNodes(around, chainId);
  const signer = await signerOf(keyFile, around.cwd);
  const { has, mayChange } = await change.state(nodes.rpc, signer.address);
  if (has === (verb === 'grant')) {
    const already = `${account} ${has ? 'has' : 'does not have'} ${role} on the ${contract} contract already`;
    return { ok: true, data: { ...data, sent: null }, text: () => already };
  }
  if (!mayChange)
    throw new CliError('E_PROD_ROLE', {
      message: `${signer.address} is not admin of the ${contract} contract.`,
      fix: 'Give the key of its admin, or let the admin send what --plan prints.',
    });
  const { sendTransaction } = await import('../../production/contracts/send-transaction.ts');
  const sent = await sendTransaction({ ...nodes, signer }, call);
  return {
    ok: true,
    data: { ...data, sent },
    text: (style) => `${style.green('done')}  ${sent.hash} in block ${sent.block}`,
  };
};

/** The transaction, ready to copy. */
function plannedChange(data: {
  verb: string;
  contract: string;
  role: string;
  account: Hex;
  transaction: { to: Hex; data: Hex };
}): CommandResult {
  const { to, data: bytes } = data.transaction;
  return {
    ok: true,
    data: { ...data, sent: null },
    text: (style) =>
      [
        `to    ${to}`,
        `data  ${bytes}`,
        style.dim('nothing was sent; with the key of the admin:'),
        `rewards contracts send ${to} ${bytes} --key-file FILE`,
      ].join('\n'),
  };
}

/** Wei in the chain's currency, to a billionth. */
export const native = (wei: bigint) => String(Number(wei / 1_000_000_000n) / 1e9);

function planText(plan: DeploymentPlan, style: Style): string {
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

const deployedText = (
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

const needsText = (needs: readonly Need[], style: Style): string =>
  needs
    .map(({ met, what, problem, fix, for: work }) =>
      met
        ? `${style.green('ok')}       ${what}`
        : `${style.red('missing')}  ${problem} ${style.dim(`(${work})`)}: ${fix}`,
    )
    .join('\n');
