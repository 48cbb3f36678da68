/** Systematic changes of the Solidity sources: exchanged operators, other numbers, statements and guards left out. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededChance } from '../../kits/run/seeded-chance.ts';
import type { Change } from './sandbox.ts';

const FOLDER = 'src/chain/contracts';

/** The tests of a contract, then those of the others that call it. */
const TESTS: Record<string, readonly string[]> = {
  'BusinessEscrow.sol': ['test/solidity/{escrow,distribute,batch-bytes,deploy,perk-nft,points-sale}.test.ts'],
  'PerkNFT.sol': ['test/solidity/{perk-nft,perk-redeem,deploy}.test.ts'],
  'PointsSale.sol': ['test/solidity/{points-sale,deploy}.test.ts'],
  'RewardToken.sol': ['test/solidity/{reward-token,escrow,distribute,perk-nft,points-sale,deploy}.test.ts'],
};

type Replace = string | ((found: string) => string);

const operators: readonly [RegExp, Replace][] = [
  [/ == /g, ' != '],
  [/ != /g, ' == '],
  [/ > /g, ' >= '],
  [/ < /g, ' <= '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ \* /g, ' / '],
  [/ \/ /g, ' * '],
  [/ % /g, ' / '],
  [/ >> /g, ' << '],
  [/ << /g, ' >> '],
  [/ & /g, ' | '],
  [/ \+= /g, ' -= '],
  [/ -= /g, ' += '],
  [/ \|= /g, ' &= '],
  [/!(?=\w)/g, ''],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/(?<![\w.])\d+(?![\w.])/g, (found) => String(Number(found) + 1)],
  // Guards: of a role, of a state.
  [/\bonlyRole\(\w+\)/g, ''],
  [/\bif \([^{};]*\) revert [^;]*;/g, ''],
  // Statements: a call, an event, a write.
  [
    /(?<=[;{})]\s+)(emit )?(?!if|for|while|return|revert|function|constructor)[a-zA-Z_][\w.]*\([^;{}]*\);/g,
    '',
  ],
  [/(?<=[;{})]\s+)[a-z_][\w.]*(\[[^;]*\])? [-+|]?= (?:[^;{]|\(\{)*;/g, ''],
  [/\b(continue;|mstore\(.*)/g, ''],
];

/** Each of a share of all changes that the seed chooses; all when `part` is 1. */
export function contractChanges({ part, seed }: { part: number; seed: number }): Change[] {
  const chance = seededChance(seed);
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sol'))
    .sort()
    .flatMap((name) => changesOf(name))
    .filter(() => chance.unit() < part);
}

function changesOf(name: string): Change[] {
  const file = join(FOLDER, name);
  const code = withoutRemarks(readFileSync(file, 'utf8'));
  const body = code.indexOf('{', code.indexOf('\ncontract '));
  return operators
    .flatMap(([pattern, replace]) =>
      [...code.matchAll(pattern)]
        .filter(({ index }) => index > body)
        .map(({ index, 0: find }) => ({
          file,
          at: index,
          find,
          replace: typeof replace === 'string' ? replace : replace(find),
          tests: TESTS[name] ?? ['test/solidity/*.test.ts'],
        })),
    )
    .sort((a, b) => a.at - b.at);
}

/** The same text with blanks for remarks, so that positions stay. */
function withoutRemarks(text: string): string {
  return text.replaceAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (remark) => remark.replaceAll(/[^\n]/g, ' '));
}
