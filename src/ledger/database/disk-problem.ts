/** Translates what can be wrong with a folder, its disk and a ledger file: a code, the cause, and the way out. */

import { PreconditionError } from '../../lib/failures/precondition.ts';
import { isDatabaseNewer } from './migrate.ts';

interface Place {
  /** The folder with the data. */
  folder: string;
  /** It is below the system's folder for temporary files, since nothing is to be kept. */
  temporary?: boolean;
}

type Problem = ConstructorParameters<typeof PreconditionError>[0];

const NO_PERMISSION = /^(?:EACCES|EPERM|EROFS|SQLITE_READONLY.*|SQLITE_CANTOPEN.*|SQLITE_PERM)$/;
const DISK_FULL = /^(?:ENOSPC|EDQUOT|EFBIG|SQLITE_FULL)$/;
const NOT_WRITTEN = /^(?:EIO|SQLITE_IOERR.*)$/;
const NO_FOLDER = /^(?:EEXIST|ENOTDIR)$/;
const GARBLED = /^(?:SQLITE_NOTADB|SQLITE_CORRUPT.*)$/;

/** Undefined when the error has another reason. */
export function diskProblem(
  error: unknown,
  { folder, temporary = false }: Place,
): PreconditionError | undefined {
  const code = codesOf(error).find((one) => TEXTS.some(([pattern]) => pattern.test(one)));
  const text = TEXTS.find(([pattern]) => code !== undefined && pattern.test(code))?.[1];
  if (text && code) return new PreconditionError(text({ folder, temporary, code }));
  if (!isDatabaseNewer(error)) return undefined;
  return new PreconditionError({
    code: 'E_LEDGER_NEWER',
    message: `The data in ${folder} is of a newer version of rewards: ${(error as Error).message}`,
    fix: 'Run the newer version, or choose another folder with --persist-to DIR, or use --ephemeral.',
  });
}

const elsewhere = ({ temporary }: { temporary: boolean }) =>
  temporary
    ? 'set TMPDIR to another folder, or leave --ephemeral out to keep the data in this project'
    : 'choose another folder with --persist-to DIR, or use --ephemeral';

const TEXTS: [RegExp, (at: { folder: string; temporary: boolean; code: string }) => Problem][] = [
  [
    NO_PERMISSION,
    (at) => ({
      code: 'E_NO_PERMISSION',
      message: `This user may not write to ${at.folder} (${at.code}).`,
      fix: `Make it writable for this user (\`ls -ld ${at.folder}\` shows whose it is), or ${elsewhere(at)}.`,
    }),
  ],
  [
    DISK_FULL,
    (at) => ({
      code: 'E_DISK_FULL',
      message: `The disk with ${at.folder} is full (${at.code}); what was stored before is still there.`,
      fix: `Make room (\`df -h ${at.folder}\` shows how much is left), or ${elsewhere(at)}.`,
    }),
  ],
  [
    NOT_WRITTEN,
    (at) => ({
      code: 'E_DISK',
      message: `The disk with ${at.folder} does not take what is written to it (${at.code}).`,
      fix: `Look at the system's log (\`dmesg\`) for errors of the disk; meanwhile ${elsewhere(at)}.`,
    }),
  ],
  [
    NO_FOLDER,
    (at) => ({
      code: 'E_DATA_FOLDER',
      message: `${at.folder} cannot be the data folder: it, or a part of its path, is a file.`,
      fix: `Move that file away, or ${elsewhere(at)}.`,
    }),
  ],
  [
    GARBLED,
    (at) => ({
      code: 'E_LEDGER_GARBLED',
      message: `The ledger in ${at.folder} is damaged (${at.code}).`,
      fix: 'Put a copy of the folder back from before, or begin anew with `rewards reset`, or choose another folder with --persist-to DIR.',
    }),
  ],
];

function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') codes.push(cause.code);
  }
  return codes;
}
