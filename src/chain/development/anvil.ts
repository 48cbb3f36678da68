/** Starts the Anvil binary that npm installed, and ends it with this process. */
import { type CreateAnvilOptions, createAnvil } from '@viem/anvil';
import { within } from '../../lib/timers.ts';
import { createRpc, rpcLimits } from '../rpc/rpc.ts';
import { AnvilError, findAnvilBinary } from './find-anvil.ts';

interface AnvilSettings {
  bindAddress: string;
  /** 0 lets the system choose a free port. */
  port: number;
  /** 0 mines each transaction at once. */
  blockTimeSeconds: number;
  /** Nothing is mined until mining is switched on by RPC; `blockTimeSeconds` is then ignored. */
  miningOff?: boolean;
  genesisTimeSeconds?: number;
  chainId?: number;
  gasLimit?: number;
  /** How many blocks back `anvil_reorg`, `anvil_rollback` and calls to old blocks can reach. */
  historyBlocks?: number;
  startTimeoutMs?: number;
  stopTimeoutMs?: number;
}

export interface AnvilExit {
  code: number | undefined;
  signal: string | undefined;
  /** True after `stop()`. */
  asked: boolean;
}

export interface AnvilProcess {
  rpcUrl: string;
  port: number;
  /** Undefined on Windows, which does not tell it. */
  pid: number | undefined;
  /** The two shells that end Anvil when this process dies. */
  guardPids: number[];
  /** Ends Anvil and its guard, and resolves when both are gone; may be called again. */
  stop(): Promise<void>;
  /** Resolves when Anvil has ended, for whatever reason. */
  exited: Promise<AnvilExit>;
}

export const LOCAL_CHAIN_ID = 31_337;

/** Room for a transaction that pays some 12,000 rewards to new holders. */
const BLOCK_GAS_LIMIT = 1_000_000_000;

/** Each kept block holds a copy of the whole state: about 8 MB at 100,000 token holders. */
const HISTORY_BLOCKS = 16;

/**
 * The last hard fork whose blocks write no storage of their own: from Prague on every empty block adds a
 * slot, and Anvil hashes all slots for each block, so mining would slow down with the age of the chain.
 */
const HARDFORK = 'cancun';

const START_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 3_000;

/**
 * The watcher blocks on the pipe from our process and wakes when the pipe closes, even by SIGKILL. The shell
 * waits for Anvil and reaps both children, so process 1 has nothing to clean up. When the shell itself is
 * killed, our side closes the pipe and the watcher ends Anvil.
 */
const GUARD_SCRIPT = `
exec 3<&0 0</dev/null
"$@" 3<&- &
anvil=$!
( trap '' HUP INT TERM; while read -r _; do :; done; kill -KILL $anvil ) <&3 3<&- >/dev/null 2>&1 &
watcher=$!
exec 3<&-
trap 'kill -TERM $anvil' HUP INT TERM
echo "guard=$$ watcher=$watcher anvil=$anvil"
code=0
while kill -0 $anvil 2>/dev/null; do wait $anvil; code=$?; done
kill -KILL $watcher 2>/dev/null
wait $watcher 2>/dev/null
exit $code
`;

/**
 * Starts Anvil and resolves when it listens. Rejects with `AnvilError`: `E_ANVIL_MISSING` (not installed),
 * `E_PORT_TAKEN` (only for an explicit port), `E_ANVIL_START` (anything else).
 */
export async function startAnvil(settings: AnvilSettings): Promise<AnvilProcess> {
  const binary = findAnvilBinary();
  const guarded = process.platform !== 'win32';
  const startTimeoutMs = settings.startTimeoutMs ?? START_TIMEOUT_MS;
  let stdout = '';
  let stderr = '';
  let asked = false;
  let started = false;

  const instance = createAnvil(anvilOptions(settings, { binary, guarded, startTimeoutMs }));
  let pids: { guard: number; watcher: number; anvil: number } | undefined;
  const guardSpoke = new Promise<void>((resolve) => {
    instance.on('stdout', (text) => {
      if (started) return;
      stdout += text;
      const found = /guard=(\d+) watcher=(\d+) anvil=(\d+)\n/.exec(stdout);
      if (!found) return;
      pids = { guard: Number(found[1]), watcher: Number(found[2]), anvil: Number(found[3]) };
      resolve();
    });
  });
  instance.on('stderr', (text) => {
    stderr = (stderr + text).slice(-2_000);
  });
  const exited = new Promise<AnvilExit>((resolve) => {
    instance.on('exit', (code, signal) => resolve({ code, signal, asked }));
  });

  try {
    await instance.start();
    if (guarded) await within(startTimeoutMs, guardSpoke);
    started = true;
  } catch (error) {
    throw startProblem({
      settings,
      said: stderr || stdout,
      reason: error instanceof Error ? error.message : '',
    });
  }

  const port = Number(/Listening on \S*:(\d+)/.exec(stdout)?.[1]);
  const rpcUrl = `http://${settings.bindAddress.includes(':') ? `[${settings.bindAddress}]` : settings.bindAddress}:${port}`;
  const rpc = createRpc({ url: rpcUrl, ...rpcLimits, timeoutMs: startTimeoutMs });

  const end = async () => {
    asked = true;
    if (!pids) return void (await instance.stop());
    signal(pids.anvil, 'SIGTERM');
    if (!(await within(settings.stopTimeoutMs ?? STOP_TIMEOUT_MS, exited))) {
      signal(pids.anvil, 'SIGKILL');
      await exited;
    }
  };
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= end();
    return stopping;
  };

  try {
    // Anvil has printed its port; from here on it would print several lines for each request.
    await rpc('anvil_setLoggingEnabled', [false]);
  } catch {
    await stop();
    throw startProblem({ settings, said: stderr, reason: 'Anvil does not answer requests' });
  }
  return { rpcUrl, port, pid: pids?.anvil, guardPids: pids ? [pids.guard, pids.watcher] : [], stop, exited };
}

/** Anvil's command line; `guarded`: under a shell that ends Anvil when this process dies. */
function anvilOptions(
  settings: AnvilSettings,
  { binary, guarded, startTimeoutMs }: { binary: string; guarded: boolean; startTimeoutMs: number },
): CreateAnvilOptions {
  return {
    anvilBinary: binary,
    host: settings.bindAddress,
    port: settings.port,
    chainId: settings.chainId ?? LOCAL_CHAIN_ID,
    gasLimit: settings.gasLimit ?? BLOCK_GAS_LIMIT,
    timestamp: settings.genesisTimeSeconds,
    blockTime: settings.miningOff || settings.blockTimeSeconds === 0 ? undefined : settings.blockTimeSeconds,
    noMining: settings.miningOff,
    // Bounds the memory, and keeps Anvil from writing below the home directory.
    pruneHistory: settings.historyBlocks === 0 ? true : (settings.historyBlocks ?? HISTORY_BLOCKS),
    startTimeout: startTimeoutMs,
    execArgs: ([file, args, options]) => {
      const all = [...args, '--hardfork', HARDFORK, '--no-request-size-limit', '--no-cors'];
      // Its own session, so that Ctrl-C in the terminal reaches only us, and Anvil runs until we have saved its state.
      return guarded
        ? ['/bin/sh', ['-c', GUARD_SCRIPT, 'sh', file, ...all], { ...options, buffer: false, detached: true }]
        : [file, all, { ...options, buffer: false, windowsHide: true }];
    },
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Anvil has ended already.
  }
}

function startProblem(start: { settings: AnvilSettings; said: string; reason: string }): AnvilError {
  const { bindAddress, port } = start.settings;
  if (port !== 0 && /address (already )?in use|only one usage of each socket/i.test(start.said)) {
    return new AnvilError({
      code: 'E_PORT_TAKEN',
      message: `Port ${port} on ${bindAddress} for the local chain is already in use`,
      fix: 'Stop the program that holds it, or choose another port (0 takes a free port)',
    });
  }
  const said = start.said.trim().split('\n').at(-1) ?? '';
  return new AnvilError({
    code: 'E_ANVIL_START',
    message: `Anvil did not start on ${bindAddress}:${port}: ${said || start.reason}`,
    fix: 'Run the binary of @foundry-rs/anvil by hand to see why (npx anvil --version)',
  });
}
