import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const script = (name: string) => import(new URL(`scripts/${name}.js`, root).href);
const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));

test('every dependency is pinned to one version', () => {
  const { dependencies, devDependencies } = read('package.json');
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+$/.test(String(version)),
  );
  expect(loose).toEqual([]);
});

test('the lock file names the optional packages of every platform (npm run lockfile adds them)', () => {
  const { packages } = read('package-lock.json') as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const missing = Object.entries(packages).flatMap(([where, { optionalDependencies }]) =>
    Object.keys(optionalDependencies ?? {}).filter(
      (name) => !packages[`node_modules/${name}`] && !packages[`${where}/node_modules/${name}`],
    ),
  );
  expect(missing).toEqual([]);
});

describe('the lock file names for each package its hash and where it is from', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'rewards-lockfile-'));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  const check = (lock: unknown) => {
    const file = join(scratch, 'package-lock.json');
    writeFileSync(file, JSON.stringify(lock));
    const checker = new URL('scripts/check-lockfile.js', root).pathname;
    const { status, stderr } = spawnSync(process.execPath, [checker, file], { encoding: 'utf8' });
    return { status, said: stderr.trim().split('\n') };
  };
  const anvil = 'node_modules/@foundry-rs/anvil-darwin-arm64';

  test('in full', () => {
    expect(check(read('package-lock.json'))).toEqual({ status: 0, said: [''] });
  });

  test.each([
    ['without a hash', { integrity: undefined }, `${anvil} has no integrity`],
    [
      'with a weak hash',
      { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' },
      `${anvil} has an integrity other than sha512`,
    ],
    ['without a host', { resolved: undefined }, `${anvil} has no resolved`],
    [
      'of another host',
      { resolved: 'https://mirror.example/anvil-darwin-arm64/-/anvil-darwin-arm64-1.7.1.tgz' },
      `${anvil} is resolved to https://mirror.example/anvil-darwin-arm64/-/anvil-darwin-arm64-1.7.1.tgz, not to its version at https://registry.npmjs.org/`,
    ],
    [
      'of another version',
      {
        resolved: 'https://registry.npmjs.org/@foundry-rs/anvil-darwin-arm64/-/anvil-darwin-arm64-1.7.0.tgz',
      },
      `${anvil} is resolved to https://registry.npmjs.org/@foundry-rs/anvil-darwin-arm64/-/anvil-darwin-arm64-1.7.0.tgz, not to its version at https://registry.npmjs.org/`,
    ],
  ])('a package %s is refused', (_, change, problem) => {
    const lock = read('package-lock.json');
    Object.assign(lock.packages[anvil], change);
    expect(check(lock)).toMatchObject({
      status: 1,
      said: [problem, expect.stringContaining('npm run lockfile')],
    });
  });
});

/** What the build writes, by esbuild's word. */
async function outputs(): Promise<Metafile['outputs'][string][]> {
  const { program, clientScript } = await script('bundles');
  const built = await Promise.all(
    [program, clientScript].map((options) => build({ ...options, sourcemap: false, write: false })),
  );
  return built.flatMap(({ metafile }) => Object.values((metafile as Metafile).outputs));
}

test('what is installed with the package is what the bundles load at run time', async () => {
  const imports = (await outputs()).flatMap((output) => output.imports);
  const packages = imports
    .filter(({ external, path }) => external && !isBuiltin(path))
    .map(({ path }) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  // The bundled ws and debug try them, and do without.
  const tried = ['bufferutil', 'utf-8-validate', 'supports-color'];
  const loaded = [...new Set(packages)].filter((name) => name && !tried.includes(name));
  // Anvil is a program: it is found by its package's folder. The curve is required where it is needed.
  const expected = [...loaded, '@foundry-rs/anvil', 'secp256k1'].sort();
  expect(Object.keys(read('package.json').dependencies)).toEqual(expected);
});

describe('third-party notices', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'rewards-notices-'));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  /** `name version` of each package that has code in the bundles. */
  async function bundled(): Promise<string[]> {
    const files = (await outputs()).flatMap(({ inputs }) => Object.keys(inputs));
    const packages = files.flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+\//.exec(file)?.[0] ?? []);
    return [...new Set(packages)].map((folder) => {
      const { name, version } = read(`${folder}package.json`);
      return `${name} ${version}`;
    });
  }

  /** The packages among these that have no entry with a licence's text in it. */
  const withoutEntry = (packages: string[], notices: string) => {
    const entries = notices.split(/^-{80}\n(?=.+\n-{80}$)/m).slice(1);
    return packages.filter((title) => {
      const entry = entries.find((text) => text.startsWith(`${title} (`));
      return !entry || !/warrant(y|ies)/i.test(entry);
    });
  };

  test('every package that the build bundles has an entry with the text of its licence', async () => {
    const notices = readFileSync(new URL('THIRD_PARTY_NOTICES.txt', root), 'utf8');
    const packages = await bundled();
    expect(packages.length).toBeGreaterThan(10);
    expect(withoutEntry(packages, notices)).toEqual([]);
    // Its code is in the contracts' bytecode.
    expect(notices).toMatch(/^@openzeppelin\/contracts \d+\.\d+\.\d+ \(MIT\)$/m);
    expect(withoutEntry([...packages, 'planted 1.0.0'], notices)).toEqual(['planted 1.0.0']);
  });

  test('the package that is published has the file', () => {
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
        cwd: root,
        encoding: 'utf8',
      }),
    );
    expect(packed.files.map(({ path }: { path: string }) => path)).toContain('THIRD_PARTY_NOTICES.txt');
  });

  test('a bundled package without a licence, or without its text, ends the build', async () => {
    const { bundledFolders, thirdPartyNotices } = await script('third-party-notices');
    const place = (name: string, manifest: object) => {
      mkdirSync(join(scratch, 'node_modules', name), { recursive: true });
      writeFileSync(
        join(scratch, 'node_modules', name, 'package.json'),
        JSON.stringify({ name, ...manifest }),
      );
      const inputs = { [`node_modules/${name}/index.js`]: { bytesInOutput: 1 } };
      return bundledFolders(scratch, [{ outputs: { 'dist/main.js': { inputs } } }]);
    };
    const textless = place('textless', { version: '1.2.3', license: 'Zlib' });
    expect(() => thirdPartyNotices(scratch, textless)).toThrow(
      'textless is bundled, but comes without the text of its licence: put it into scripts/licenses/textless.txt',
    );
    writeFileSync(join(scratch, 'node_modules/textless/LICENSE'), 'Provided without any warranty.');
    expect(thirdPartyNotices(scratch, textless)).toContain('textless 1.2.3 (Zlib)');
    const unlicensed = place('unlicensed', { version: '2.0.0' });
    expect(() => thirdPartyNotices(scratch, unlicensed)).toThrow(
      'unlicensed 2.0.0 is bundled, but its package.json names no licence',
    );
  });
});
