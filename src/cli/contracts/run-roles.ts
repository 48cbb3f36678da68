/** `rewards contracts grant|revoke`: a role of a contract, by its admin's key or as a transaction to copy. */
import type { Hex } from '../../lib/hex.ts';
import type { ContractsOptions } from '../../production/contracts/contracts-command.ts';
import type { Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { type NodeOptions, surroundings } from '../setup/contracts.ts';

export const changeRole: Handler<
  ContractsOptions &
    NodeOptions & { verb: 'grant' | 'revoke'; role: string; account: Hex; keyFile?: string; plan?: boolean }
> = async (context, options) => {
  const { verb, account, keyFile } = options;
  const { openNodes, signerOf, whichContracts } = await import(
    '../../production/contracts/contracts-command.ts'
  );
  const { roleChange } = await import('../../production/contracts/change-role.ts');
  if (!/^0x[0-9a-f]{40}$/i.test(account))
    throw usageError(`${account} is not an address.`, 'Write 0x and 40 hexadecimal digits.');
  const around = surroundings(context, options);
  const { chainId, contracts } = await whichContracts(options, around.cwd);
  const change = roleChange(verb, { words: options.role, account, contracts });
  if ('roles' in change)
    throw usageError(`${options.role} is not one role.`, `Name one of ${change.roles.join(', ')}.`);
  const { contract, role, call } = change;
  const data = { verb, contract, role, account, chainId, transaction: call };
  if (options.plan || keyFile === undefined) return planned(data);

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
function planned(data: {
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
