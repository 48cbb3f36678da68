/** What an error of a database means: by the codes of all its causes, and by the words of those that have no code. */
import { expect, test } from 'vitest';
import {
  isContention,
  isDatabaseAway,
  isDatabaseBusy,
  isDatabaseRefusal,
  isDatabaseUnavailable,
  isDuplicateTable,
  isLockTimeout,
  isUniqueViolation,
} from '../../src/ledger/database/database.ts';

const questions = {
  isContention,
  isDatabaseAway,
  isDatabaseBusy,
  isDatabaseRefusal,
  isDatabaseUnavailable,
  isDuplicateTable,
  isLockTimeout,
  isUniqueViolation,
};
const answeredYes = (error: unknown) =>
  Object.entries(questions).flatMap(([name, ask]) => (ask(error) ? [name] : []));
const coded = (code: unknown, cause?: Error) => Object.assign(new Error('failed', { cause }), { code });

const meanings: [string, string[]][] = [
  ['23505', ['isUniqueViolation']],
  ['SQLITE_CONSTRAINT_UNIQUE', ['isUniqueViolation']],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', ['isUniqueViolation']],
  ['SQLITE_CONSTRAINT_NOTNULL', []],
  ['42P07', ['isDuplicateTable']],
  ['42710', ['isDuplicateTable']],
  ['40001', ['isContention', 'isDatabaseBusy']],
  ['40P01', ['isContention', 'isDatabaseBusy']],
  ['SQLITE_BUSY', ['isContention', 'isDatabaseBusy']],
  ['55P03', ['isDatabaseBusy', 'isLockTimeout']],
  ['57014', ['isDatabaseBusy']],
  ['28P01', ['isDatabaseAway', 'isDatabaseRefusal', 'isDatabaseUnavailable']],
  ['3D000', ['isDatabaseAway', 'isDatabaseRefusal', 'isDatabaseUnavailable']],
  ['ERR_INVALID_URL', ['isDatabaseAway', 'isDatabaseRefusal', 'isDatabaseUnavailable']],
  ['08006', ['isDatabaseAway', 'isDatabaseUnavailable']],
  ['25006', ['isDatabaseAway', 'isDatabaseUnavailable']],
  ['57P03', ['isDatabaseAway', 'isDatabaseUnavailable']],
  ['53300', ['isDatabaseAway', 'isDatabaseUnavailable']],
  ['ECONNREFUSED', ['isDatabaseAway', 'isDatabaseUnavailable']],
  ['EAI_AGAIN', ['isDatabaseAway', 'isDatabaseUnavailable']],
  ['53100', ['isDatabaseUnavailable']],
  ['53200', ['isDatabaseUnavailable']],
  ['25P03', ['isDatabaseUnavailable']],
  ['SQLITE_FULL', ['isDatabaseUnavailable']],
  ['SQLITE_IOERR_FSYNC', ['isDatabaseUnavailable']],
  ['42601', []],
  ['XECONNREFUSED', []],
  ['ECONNREFUSEDX', []],
];

test.each(meanings)('%s', (code, yes) => {
  expect(answeredYes(coded(code)), 'alone').toEqual(yes);
  expect(answeredYes(coded('OTHER', coded(code))), 'below another').toEqual(yes);
  expect(answeredYes(coded(code, coded('OTHER'))), 'above another').toEqual(yes);
  expect(answeredYes(new Error('a statement failed', { cause: coded(code) })), 'below none').toEqual(yes);
});

test('a code that is no text, and what is no error, mean nothing', () => {
  for (const error of [coded(23505), new Error('23505'), { code: '23505' }, '23505', undefined])
    expect(answeredYes(error)).toEqual([]);
});

test.each([
  'timeout exceeded when trying to connect',
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
])('without a code: %s', (message) => {
  const yes = ['isDatabaseAway', 'isDatabaseUnavailable'];
  expect(answeredYes(new Error(message))).toEqual(yes);
  expect(answeredYes(new Error('a statement failed', { cause: new Error(message) }))).toEqual(yes);
  expect(answeredYes(new Error(`it said: ${message}`))).toEqual([]);
});
