/** Compiles one changed contract as `npm run contracts` would, without the others: their code holds nothing of it. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import solc from 'solc';

/** The file with a contract's code, from the root of the project. */
export function artifactOf(file: string): string {
  return join(dirname(file), 'artifacts', `${basename(file, '.sol')}.json`);
}

interface Code {
  object: string;
}

interface Compiled {
  contracts?: Record<string, Record<string, { evm: { bytecode: Code; deployedBytecode: Code } }>>;
}

/** The artifact with the code of a changed source; undefined when it does not compile, or compiles to the same code. */
export function recompiled(of: { file: string; source: string; artifact: string }): string | undefined {
  const { file, source } = of;
  const name = basename(file, '.sol');
  const artifact = JSON.parse(of.artifact);
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: source } },
    settings: {
      evmVersion: 'cancun',
      viaIR: true,
      optimizer: { enabled: true, runs: 1_000_000 },
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      remappings: ['@openzeppelin/=node_modules/@openzeppelin/'],
      outputSelection: { [file]: { [name]: ['evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  };
  const read = (path: string) => ({ contents: readFileSync(path, 'utf8') });
  const result = JSON.parse(solc.compile(JSON.stringify(input), { import: read })) as Compiled;
  const evm = result.contracts?.[file]?.[name]?.evm;
  if (!evm?.bytecode.object || `0x${evm.bytecode.object}` === artifact.bytecode) return undefined;
  const code = { bytecode: `0x${evm.bytecode.object}`, deployedBytecode: `0x${evm.deployedBytecode.object}` };
  return JSON.stringify({ ...artifact, ...code });
}
