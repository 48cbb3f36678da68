import { describe, expect, test } from 'vitest';
import { jsonLog, scrub } from '../../src/lib/log.ts';

describe('log lines', () => {
  test.each([
    ['mail to alice.b+tag@shop.demo.example now', 'alice'],
    ['https://user:secret@rpc.example/v3/0123456789abcdef failed', '0123456789abcdef'],
    ['postgres://rewards:hunter2@db.internal:5432/x', 'hunter2'],
    ['key rk_live_abc_0123456789abcdefghijklmn', '0123456789abcdefghijklmn'],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl', 'eyJzdWIiOiJhIn0'],
    [`raw 0x${'ab'.repeat(110)}`, 'abababababab'],
  ])('%s is scrubbed', (text, secret) => {
    expect(scrub(text)).not.toContain(secret);
    const lines: string[] = [];
    const log = jsonLog({ write: (line) => lines.push(line), level: 'info', now: () => 0 });
    log.info({ field: text }, text);
    expect(lines.join('')).not.toContain(secret);
  });
  test('a text of megabytes is cut before it is looked at, and never through a secret', () => {
    const url = 'https://rpc.example/v3/0123456789abcdef';
    for (let before = 3_950; before < 4_010; before++) {
      const text = `${'x '.repeat(before / 2)} ${url} ${'a@'.repeat(1_000_000)}`;
      const clean = scrub(text);
      expect(clean.length).toBeLessThan(4_100);
      expect(clean).not.toMatch(/rpc|0123/);
      expect(clean).toContain(`(${text.length} characters)`);
    }
  });
  test('hashes and addresses stay', () => {
    const hash = `0x${'ab'.repeat(32)}`;
    expect(scrub(`sent ${hash}`)).toContain(hash);
  });
  test('levels below the chosen one are silent', () => {
    const lines: string[] = [];
    const log = jsonLog({ write: (line) => lines.push(line), level: 'warn', now: () => 0 });
    log.info({}, 'quiet');
    log.warn({ n: 1 }, 'loud');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { time: '1970-01-01T00:00:00.000Z', level: 'warn', n: 1, message: 'loud' },
    ]);
  });
});
