/** Tries whether this process could listen where its settings say. */
import { createServer } from 'node:net';
import { cannotListen } from '../../compose/listen.ts';
import { namesOf } from '../../lib/setting.ts';
import { answersLivez } from '../doctor/ports.ts';
import { startSettings } from '../settings.ts';
import type { StartConfig } from '../start-config.ts';
import type { Problem } from '../start-errors.ts';
import { asksApi } from '../start-setting.ts';

type Listening = Pick<StartConfig, 'workers' | 'bindAddress' | 'port' | 'adminBindAddress' | 'adminPort'>;

/** A service of ours that holds the ports already is a warning: it stops before the next one starts. */
export async function tryListeners(config: Listening): Promise<{ problems: Problem[]; warnings: Problem[] }> {
  const { bindAddress, port, adminBindAddress, adminPort } = config;
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  let ours: boolean | undefined;
  for (const [address, at, rows] of [
    ...(asksApi(config)
      ? [[bindAddress, port, { address: startSettings.bindAddress, port: startSettings.port }] as const]
      : []),
    [adminBindAddress, adminPort, { address: startSettings.adminBindAddress, port: startSettings.adminPort }],
  ] as const) {
    const cause = await tryToListen(address, at);
    if (cause === undefined) continue;
    if (cause === 'EADDRINUSE') {
      ours ??= await answersLivez({ bindAddress: adminBindAddress, port: adminPort });
      const message = `${namesOf(rows.port).variable}: port ${at} is taken${ours ? ' by the service that runs here' : ''}`;
      const fix = ours
        ? 'stop that service before this one starts'
        : `stop the program that holds it (\`rewards doctor ports\` names it), or choose another with ${namesOf(rows.port).long}`;
      (ours ? warnings : problems).push({ code: 'E_PORT_TAKEN', message, fix });
      continue;
    }
    const problem = cannotListen(cause, { address, port: at });
    problems.push({ ...problem, message: `${namesOf(rows.address).variable}: ${problem.message}` });
  }
  return { problems, warnings };
}

/** The code of the system's refusal; undefined when the place was free. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'an unknown error'));
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}
