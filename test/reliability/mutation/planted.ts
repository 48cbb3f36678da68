/** Changes of the money path that once no test noticed, and others of their kind. Each has to be noticed by its tests. */
import type { Change } from './sandbox.ts';

const LEDGER = ['test/{ledger,engine}/*.test.ts', 'test/contract/relay/*.test.ts'];
const RELAY = ['test/actions/*.test.ts', 'test/contract/relay/*.test.ts', 'test/ledger/*.test.ts'];
const EVENTS = ['test/actions/*.test.ts', 'test/contract/events/*.test.ts', 'test/ledger/*.test.ts'];
const ESCROW = ['test/solidity/{escrow,distribute,batch-bytes}.test.ts'];
const TOKEN = ['test/solidity/reward-token.test.ts'];
const PERKS = ['test/solidity/perk-nft.test.ts'];
const SALE = ['test/solidity/points-sale.test.ts'];

function change(file: string, find: string, replace: string, tests: readonly string[]): Change {
  return { file, find, replace, tests };
}

export const planted: readonly Change[] = [
  // A reward that an earlier transaction paid is given back once more: its user claims again under a new sequence.
  change('src/chain/indexer/book-logs.ts', 'continue;', '', LEDGER),
  // A stranger's contract says what only the escrow may say.
  change(
    'src/chain/indexer/book-logs.ts',
    'logs.filter(({ address }) => address.toLowerCase() === escrow)',
    'logs',
    LEDGER,
  ),
  // Two movements of one transaction have one name: the second is not booked.
  change('src/chain/indexer/book-logs.ts', `:\${one.logIndex}`, ':0', LEDGER),
  // Finality one block early, and one block late.
  change(
    'src/chain/indexer/apply-block.ts',
    'block.number - settings.finalityBlocks,',
    'block.number - settings.finalityBlocks + 1,',
    LEDGER,
  ),
  change(
    'src/chain/indexer/apply-block.ts',
    'block.number - settings.finalityBlocks,',
    'block.number - settings.finalityBlocks - 1,',
    LEDGER,
  ),
  // A block that is not confirmed yet is read; one that is, is not.
  change('src/chain/indexer/indexer.ts', 'settings.confirmations + 1', 'settings.confirmations + 2', LEDGER),
  change('src/chain/indexer/indexer.ts', 'settings.confirmations + 1', 'settings.confirmations', LEDGER),
  // A block whose receipts are not complete yet is booked without our transaction.
  change(
    'src/chain/indexer/read-block.ts',
    'receipts.length === (block.transactions?.length ?? receipts.length) &&',
    '',
    LEDGER,
  ),
  // A priority fee above the maximum: every node refuses it.
  change(
    'src/chain/lane/fees.ts',
    'maxPriorityFeePerGas: smaller(maxPriorityFeePerGas, maxFeePerGas)',
    'maxPriorityFeePerGas',
    LEDGER,
  ),
  // "unknown transaction" counts as taken.
  change('src/chain/rpc/send-outcome.ts', '|^known transaction', '|known transaction', LEDGER),
  // A permit used six permits ago is taken for this call's; one used five ago is not.
  change('src/chain/contracts/permit.ts', 'USED_NONCES = 5n', 'USED_NONCES = 6n', RELAY),
  change('src/chain/contracts/permit.ts', 'USED_NONCES = 5n', 'USED_NONCES = 4n', RELAY),
  // One failed look at the token's domain makes every permit fail until a restart.
  change('src/chain/contracts/permit.ts', 'separator = undefined;', '', RELAY),
  // What a relayed call did not cost is never given back.
  change('src/chain/work/settlements.ts', 'relay: ', 'setup: ', RELAY),
  // A call refused for its user's window keeps its reservation.
  change(
    'src/actions/relay/queue-relays.ts',
    'await giveBackGas(tx, gasOf(wish));\n      await giveBackGasShare(tx, gasOf(wish));',
    '',
    RELAY,
  ),
  // A call beyond its user's share keeps what the payer's budget gave.
  change(
    'src/actions/relay/queue-relays.ts',
    "await giveBackGas(tx, gasOf(wish));\n        overBudget(wish, 'user');",
    "overBudget(wish, 'user');",
    RELAY,
  ),
  // The reservation leaves out the permit's gas.
  change('src/actions/relay/relay-transaction.ts', '...(trial.permit ? [trial.permit] : [])', '', RELAY),
  // A key asked again does not look for its call.
  change('src/actions/relay/relay-transaction.ts', 'if (earlier)', 'if (earlier && false)', RELAY),
  // A lane that slept passes its fence while another process takes the lease.
  change('src/ledger/transactions/lanes.ts', ".for('update')", '', LEDGER),
  // A grant and a release of one user at once: the newer one is forgotten.
  change('src/ledger/rewards/settle-rewards.ts', 'await lockAvailableFunds(tx, [brandId]);', '', LEDGER),
  // A user's cooldown begins with another user's reward.
  change(
    'src/ledger/rewards/rewards.ts',
    'eq(rewards.userKey, of.userKey),\n        eq(rewards.brandId',
    'eq(rewards.brandId',
    LEDGER,
  ),
  change('src/ledger/rewards/rewards.ts', 'eq(rewards.eventType, of.eventType),', '', LEDGER),
  // A transaction that a block holds is closed as lost.
  change(
    'src/ledger/transactions/transactions.ts',
    ".set({ status: 'final', outcome: 'noop' })\n    .where(and(eq(transactions.id, id), inArray(transactions.status, ['stored', 'sent'])))",
    ".set({ status: 'final', outcome: 'noop' })\n    .where(eq(transactions.id, id))",
    LEDGER,
  ),
  // Rewards whose transaction reverts are tried for ever, once too often, or are forgotten.
  change('src/ledger/rewards/settle-rewards.ts', 'TRIES_MAX = 3', 'TRIES_MAX = 1000', LEDGER),
  change('src/ledger/rewards/settle-rewards.ts', 'TRIES_MAX = 3', 'TRIES_MAX = 4', LEDGER),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template is what is changed
  change('src/ledger/rewards/rewards.ts', ', failedTries: sql`${rewards.failedTries} + 1`', '', LEDGER),
  change('src/ledger/rewards/settle-rewards.ts', 'failedTries + 1 >= TRIES_MAX', 'false', LEDGER),
  // Giving up a transaction fails a reward that another one carries.
  change(
    'src/ledger/rewards/settle-rewards.ts',
    'rewards.filter(({ transactionId }) => transactionId === transaction.id)',
    'rewards',
    LEDGER,
  ),
  // A refusal without effect, or a failure, is kept for a day under its key.
  change('src/http/events/answer-event.ts', "isGranted ? 'id' : 'nothing'", "'answer'", EVENTS),
  change('src/http/events/answer-event.ts', "isGranted ? 'id' : 'nothing'", "'nothing'", EVENTS),
  // A clock set back leaves a window that locks its user out.
  change(
    'src/ledger/limits/rate-windows.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template is what is changed
    'gt(rateWindows.startedAt, sql`${now} + ${windowMs}`),',
    '',
    LEDGER,
  ),
  // A key set of any size is searched for each token.
  change('src/identity/key-set.ts', ' || keys.length > KEYS_MAX', '', ['test/identity/*.test.ts']),

  // The contracts: anybody moves a brand's old allowance; a brand cannot take all of its money; deadlines by a second.
  change('src/chain/contracts/BusinessEscrow.sol', ' && signer == owner', '', ESCROW),
  change('src/chain/contracts/BusinessEscrow.sol', 'if (amount > balance)', 'if (amount >= balance)', ESCROW),
  change(
    'src/chain/contracts/BusinessEscrow.sol',
    'block.timestamp > deadline',
    'block.timestamp >= deadline',
    ESCROW,
  ),
  // A reward is paid again; its word of the bitmap is another's; more is paid than the brand has, or less.
  change('src/chain/contracts/BusinessEscrow.sol', 'if (paid) return SKIPPED_ALREADY_PAID;', '', ESCROW),
  change(
    'src/chain/contracts/BusinessEscrow.sol',
    '_paidWords[sequence >> 8]',
    '_paidWords[sequence >> 7]',
    ESCROW,
  ),
  change(
    'src/chain/contracts/BusinessEscrow.sol',
    'if (amount > remaining)',
    'if (amount > remaining + 1)',
    ESCROW,
  ),
  change(
    'src/chain/contracts/BusinessEscrow.sol',
    'if (amount > remaining)',
    'if (amount >= remaining)',
    ESCROW,
  ),
  change('src/chain/contracts/BusinessEscrow.sol', 'remaining -= amount;', '', ESCROW),
  // One bad reward spoils the batch, or tokens go where nobody can use them.
  change('src/chain/contracts/BusinessEscrow.sol', ' || to == address(token)', '', ESCROW),
  change(
    'src/chain/contracts/BusinessEscrow.sol',
    'if (to == address(0)) return SKIPPED_ZERO_ADDRESS;',
    '',
    ESCROW,
  ),
  // Anybody pays, mints, collects, or buys in somebody's name.
  change('src/chain/contracts/BusinessEscrow.sol', 'external onlyRole(DISTRIBUTOR_ROLE)', 'external', ESCROW),
  change(
    'src/chain/contracts/RewardToken.sol',
    'mint(address to, uint256 amount) external onlyRole(MINTER_ROLE)',
    'mint(address to, uint256 amount) external',
    TOKEN,
  ),
  change('src/chain/contracts/RewardToken.sol', 'external onlyRole(REDEEMER_ROLE)', 'external', TOKEN),
  change(
    'src/chain/contracts/RewardToken.sol',
    'if (amount > remaining)',
    'if (amount > remaining + 1)',
    TOKEN,
  ),
  change('src/chain/contracts/PerkNFT.sol', 'msg.sender != buyer && !hasRole', 'false && !hasRole', PERKS),
  change('src/chain/contracts/PerkNFT.sol', 'if (price > maxPrice)', 'if (price > maxPrice + 1)', PERKS),
  change('src/chain/contracts/PerkNFT.sol', 'if (stock == 0)', 'if (stock == 1)', PERKS),
  // A payment is minted twice.
  change(
    'src/chain/contracts/PointsSale.sol',
    'mintForPayment(bytes32 key, address to, uint256 amount) external onlyRole(OPERATOR_ROLE)',
    'mintForPayment(bytes32 key, address to, uint256 amount) external',
    SALE,
  ),
  change('src/chain/contracts/PointsSale.sol', '_minted[key] = true;', '', SALE),
];
