/** Finds the Anvil binary that npm installed. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

type AnvilErrorCode = 'E_PORT_TAKEN' | 'E_ANVIL_MISSING' | 'E_ANVIL_START';

/** Anvil could not be started; `fix` says what to do about it. */
export class AnvilError extends Error {
  override name = 'AnvilError';
  readonly code: AnvilErrorCode;
  readonly fix: string;
  constructor(problem: { code: AnvilErrorCode; message: string; fix: string }) {
    super(`${problem.message}.`);
    this.code = problem.code;
    this.fix = problem.fix;
  }
}

const PACKAGE_BY_PLATFORM: Record<string, string> = {
  'linux-x64': 'linux-amd64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'darwin-amd64',
  'darwin-arm64': 'darwin-arm64',
  'win32-x64': 'win32-amd64',
};

/** The path of the binary for this platform; throws `AnvilError` (`E_ANVIL_MISSING`) when it is not installed. */
export function findAnvilBinary(
  platform: { os: string; arch: string } = { os: process.platform, arch: process.arch },
): string {
  const name = PACKAGE_BY_PLATFORM[`${platform.os}-${platform.arch}`];
  if (!name) {
    throw new AnvilError({
      code: 'E_ANVIL_MISSING',
      message: `Anvil does not support ${platform.os} on ${platform.arch}`,
      fix: 'Start a development node elsewhere and give its address with --rpc-url',
    });
  }
  const path = resolveBinary(`@foundry-rs/anvil-${name}/bin/anvil${platform.os === 'win32' ? '.exe' : ''}`);
  if (path) return path;
  throw new AnvilError({
    code: 'E_ANVIL_MISSING',
    message: `The package @foundry-rs/anvil-${name} is not installed`,
    fix: 'Install again with optional dependencies: npm install --include=optional',
  });
}

function resolveBinary(request: string): string | undefined {
  try {
    // The platform's package may lie below Anvil's own, depending on the package manager.
    const anvil = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
    const path = createRequire(anvil).resolve(request);
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
