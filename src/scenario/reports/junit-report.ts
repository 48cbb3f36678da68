/** The report as JUnit XML: a file is a suite, a row of its matrix a test. Times are of this machine's clock. */
import { create } from 'xmlbuilder2';
import { type CaseReport, type FileReport, failuresOf, type ScenarioReport } from '../run/report.ts';
import { failureText, placeText, plain } from './text-report.ts';

/** What XML 1.0 has no way to write. */
const UNPRINTABLE =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const printable = (text: string) => text.replace(UNPRINTABLE, '\ufffd');
const seconds = (ms: number) => (ms / 1_000).toFixed(3);

export function junitReport(report: ScenarioReport): string {
  const cases = report.files.flatMap((file) => file.cases);
  const root = create({ version: '1.0', encoding: 'UTF-8' }).ele('testsuites', {
    name: 'rewards scenario',
    ...countsOf(cases),
    time: seconds(report.durationMs),
  });
  for (const file of report.files) addSuite(root, file, report);
  return `${root.end({ prettyPrint: true })}\n`;
}

type Node = ReturnType<ReturnType<typeof create>['ele']>;

function addSuite(root: Node, file: FileReport, report: ScenarioReport): void {
  const suite = root.ele('testsuite', {
    name: printable(file.name),
    ...countsOf(file.cases),
    errors: 0,
    time: seconds(file.durationMs),
    timestamp: report.startedAt.slice(0, 19),
    hostname: 'localhost',
  });
  const [clock] = file.cases.flatMap((one) => (one.clock ? [one.clock] : []));
  const properties = suite.ele('properties');
  const facts: Record<string, string> = {
    file: file.file,
    program: report.program,
    ...(report.target !== null && { target: report.target }),
    ...(clock && { 'clock.start': clock.start, 'clock.end': clock.end }),
  };
  for (const [name, value] of Object.entries(facts)) properties.ele('property', { name, value });
  for (const one of file.cases) addCase(suite, file, one);
}

function addCase(suite: Node, file: FileReport, one: CaseReport): void {
  const test = suite.ele('testcase', {
    name: printable(one.name),
    classname: file.file,
    time: seconds(one.durationMs),
  });
  if (one.status === 'skipped') test.ele('skipped', { message: printable(one.reason ?? '') });
  const [first] = failuresOf(one);
  if (!first) return;
  const text = failuresOf(one)
    .map((failure) => failureText(failure, plain))
    .join('\n');
  test
    .ele('failure', { message: printable(`${placeText(first)} ${first.message}`), type: 'unexpected' })
    .txt(printable(`\n${text}\n`));
}

const countsOf = (cases: readonly CaseReport[]) => ({
  tests: cases.length,
  failures: cases.filter(({ status }) => status === 'failed').length,
  skipped: cases.filter(({ status }) => status === 'skipped').length,
});
