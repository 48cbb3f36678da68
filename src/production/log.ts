/** Production's log: a line of JSON for each occurrence, by pino, with what is secret or personal taken out twice. */
import pino from 'pino';
import { type Log, type LogFields, type LogLevel, scrub } from '../lib/log.ts';

/** Fields that are never written, whoever logs them. */
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
  /** Said on every line, such as which of several replicas this is. */
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
