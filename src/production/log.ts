/** Production's log: one line of JSON per message, by pino; secrets and personal data are removed twice, by field and by form. */
import pino from 'pino';
import { type Log, type LogFields, type LogLevel, scrub } from '../lib/log.ts';

/** Fields that are never written, wherever they are logged. */
const HIDDEN = [
  ...[
    'email',
    'userEmail',
    'userKey',
    'userIdentifier',
    'metadata',
    'body',
    'raw',
    'key',
    'privateKey',
    'secret',
  ],
  ...[
    'token',
    'apiKey',
    'authorization',
    'cookie',
    'url',
    'rpcUrl',
    'databaseUrl',
    'password',
    'mnemonic',
    'xpub',
  ],
];

/** Writes whole lines through `write`. */
export function productionLog(sink: {
  write: (line: string) => void;
  level: LogLevel;
  now: () => number;
  /** Fields of every line, such as the name of this replica. */
  about: LogFields;
}): Log {
  const logger = pino(
    {
      level: sink.level,
      base: sink.about,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date(sink.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: HIDDEN, censor: '[hidden]' },
    },
    { write: sink.write },
  );
  const at = (level: Exclude<LogLevel, 'silent'>) => (fields: LogFields, message: string) => {
    if (!logger.isLevelEnabled(level)) return;
    const clean = Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'string' ? scrub(value) : value,
    ]);
    logger[level](Object.fromEntries(clean), scrub(message));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
