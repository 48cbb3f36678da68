/** The domain rule against everything that looks like the brand's domain and is not. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalHost, hostOfUrl, isWithin, judgeDomain } from '../../src/rules/brands/domain.ts';
import { anyCharacter } from '../kits/run/any-character.ts';

const brand = { domains: ['example.com'], platforms: {} };
const ownHosts = ['rewards.localhost'];
const judge = (from: Parameters<typeof judgeDomain>[0]) => judgeDomain(from, brand, { ownHosts }).authorized;
/** As a body's field goes: brought into one form first, refused when it has none. */
const fieldPasses = (domain: string) => {
  const host = canonicalHost(domain);
  return host !== undefined && judge({ domain: host });
};

/** Text, and whether it is example.com or under it. */
const domains: [string, boolean][] = [
  ['example.com', true],
  ['EXAMPLE.com', true],
  ['shop.example.com', true],
  ['a.b.c.example.com', true],
  ['example.com.', true],
  ['shop.example.com.', true],
  ['example.com:443', true],
  ['example.com:8080', true],
  ['xn--bcher-kva.example.com', true],
  ['bücher.example.com', true],
  ['ｅｘａｍｐｌｅ.com', true],
  ['example。com', true],
  ['exam\u00adple.com', true],
  ['evil-example.com', false],
  ['evilexample.com', false],
  ['example.com.evil.io', false],
  ['example.comevil.io', false],
  ['example.co', false],
  ['example.com.co', false],
  ['com', false],
  ['.com', false],
  ['example', false],
  ['', false],
  ['.', false],
  ['..', false],
  ['..example.com', false],
  ['.example.com', false],
  ['example..com', false],
  ['example.com..', false],
  ['*.example.com', false],
  ['*', false],
  ['evil.io/example.com', false],
  ['evil.io?example.com', false],
  ['evil.io#example.com', false],
  ['evil.io#.example.com', false],
  ['evil.io\\example.com', false],
  ['evil.io\\.example.com', false],
  ['example.com@evil.io', false],
  ['evil.io@example.com', false],
  ['evil.io\\@example.com', false],
  ['user:pass@example.com', false],
  ['example.com:80@evil.io', false],
  ['evil.io%2eexample.com', false],
  ['example%2ecom', false],
  ['evil.io%00.example.com', false],
  ['evil.io\u0000.example.com', false],
  ['evil.io .example.com', false],
  ['evil.io\t.example.com', false],
  ['evil.io\n.example.com', false],
  ['evil.io,example.com', false],
  ['evil.io;.example.com', false],
  ['evil.io&.example.com', false],
  ['evil.io|.example.com', false],
  ['evil.io^.example.com', false],
  ['evil.io`.example.com', false],
  ['evil.io{.example.com', false],
  ["evil.io'.example.com", false],
  ['evil.io".example.com', false],
  ['evil.io<.example.com', false],
  ['evil.io(.example.com', false],
  ['evil.io!.example.com', false],
  ['evil.io$.example.com', false],
  ['evil.io=.example.com', false],
  ['evil.io~.example.com', false],
  ['evil_io.example.com', true],
  ['-.example.com', false],
  ['-evil.example.com', false],
  ['evil-.example.com', false],
  ['еxample.com', false],
  ['exаmple.com', false],
  ['example.com\u2044evil.io', false],
  ['example.com／evil.io', false],
  ['evil.io？.example.com', false],
  ['evil.io＃.example.com', false],
  ['evil.io＠example.com', false],
  ['http://example.com', false],
  ['https://example.com/', false],
  ['//example.com', false],
  ['javascript://example.com', false],
  ['javascript:alert(1)//example.com', false],
  ['data:text/html,example.com', false],
  ['example.com:99999', false],
  ['example.com:-1', false],
  ['example.com:port', false],
  ['example.com:80:80', false],
  ['127.0.0.1', false],
  ['127.1', false],
  ['0x7f000001', false],
  ['2130706433', false],
  ['[::1]', false],
  ['::ffff:127.0.0.1', false],
  ['localhost', false],
  ['rewards.localhost', false],
  [`${'a'.repeat(63)}.example.com`, true],
  [`${'a'.repeat(64)}.example.com`, false],
  [`${'a.'.repeat(121)}example.com`, true],
  [`${'a.'.repeat(122)}example.com`, false],
  ['xn--a.example.com', false],
];

test('of a text of 506 characters the host is read, of a longer one nothing', () => {
  // Soft hyphens vanish from a host.
  const spelled = (length: number) => `exam${'\u00ad'.repeat(length - 'example.com'.length)}ple.com`;
  expect(canonicalHost(spelled(506))).toBe('example.com');
  expect(canonicalHost(spelled(507))).toBeUndefined();
});

describe('contract: Event submission, domain', () => {
  test.each(domains)('%j belongs to example.com: %j', (domain, belongs) => {
    expect(fieldPasses(domain)).toBe(belongs);
  });
});

/** URLs and origins, and whether they are example.com's. */
const urls: [string, boolean][] = [
  ['https://example.com', true],
  ['https://example.com/', true],
  ['HTTPS://EXAMPLE.COM/path?x=1#y', true],
  ['https://shop.example.com:8443/thanks', true],
  ['http://example.com', true],
  ['https://example.com.', true],
  ['https://example.com?@evil.io', true],
  ['https://example.com#@evil.io', true],
  ['https://example.com/@evil.io', true],
  ['https://example.com/\\evil.io', true],
  ['https://evil.io/example.com', false],
  ['https://evil.io?example.com', false],
  ['https://evil.io#example.com', false],
  ['https://evil.io#.example.com', false],
  ['https://evil.io\\.example.com', false],
  ['https://evil.io\\@example.com', false],
  ['https://example.com\\@evil.io', false],
  ['https://example.com@evil.io', false],
  ['https://example.com:443@evil.io', false],
  ['https://evil.io@example.com', false],
  ['https://user:pass@example.com', false],
  ['https://@example.com', false],
  ['https://evil-example.com', false],
  ['https://example.com.evil.io', false],
  ['https://example%2ecom', false],
  ['https://example%2Ecom.evil.io', false],
  ['https://evil.io%2f.example.com', false],
  ['https://%65xample.com', false],
  ['https:example.com', false],
  ['https:/example.com', false],
  ['https:\\\\example.com', false],
  ['https:///example.com', false],
  ['https:////example.com', false],
  ['//example.com', false],
  ['example.com', false],
  ['ftp://example.com', false],
  ['file:///example.com', false],
  ['javascript://example.com/%0aalert(1)', false],
  ['data:text/html,https://example.com', false],
  ['blob:https://example.com/1', false],
  [' https://example.com', false],
  ['https://exa mple.com', false],
  ['https://exam\tple.com', false],
  ['https://exam\nple.com', false],
  ['https://exam\u0000ple.com', false],
  ['https://*.example.com', false],
  ['https://..example.com', false],
  ['https://[::1]', false],
  ['https://[::1].example.com', false],
  ['https://127.0.0.1', false],
  ['https://', false],
  ['null', false],
  ['', false],
];

describe('contract: Event submission, sourceUrl; Domain rule, Origin header', () => {
  test.each(urls)('%j belongs to example.com: %j', (url, belongs) => {
    expect(judge({ sourceUrl: url })).toBe(belongs);
    expect(judge({ origin: url })).toBe(belongs);
  });
});

describe('contract: Domain rule, precedence', () => {
  const [good, bad] = ['example.com', 'evil.io'];
  const present: (string | undefined)[] = [undefined, good, bad];
  const rows = present.flatMap((domain) =>
    present.flatMap((source) => present.map((origin) => ({ domain, source, origin }))),
  );

  test.each(rows)('domain $domain, sourceUrl at $source, Origin $origin', ({ domain, source, origin }) => {
    const passes = judge({
      domain,
      sourceUrl: source && `https://${source}/page`,
      origin: origin && `https://${origin}`,
    });
    const first = domain ?? source ?? origin;
    expect(passes).toBe(first === good && origin !== bad);
  });

  test("the service's own pages may send a brand's events, but are no brand themselves", () => {
    expect(judge({ domain: 'example.com', origin: 'http://rewards.localhost:8787' })).toBe(true);
    expect(judge({ origin: 'http://rewards.localhost:8787' })).toBe(false);
    expect(judge({ domain: 'example.com', origin: 'http://evilrewards.localhost' })).toBe(false);
  });
});

test('an Origin that is no host is told without control characters, and not at full length', () => {
  const origin = `nonsense\u0085\u0000${'x'.repeat(10_000)}`;
  const { authorized, host } = judgeDomain({ origin }, brand, { ownHosts });
  expect([authorized, host]).toEqual([false, `nonsense${'x'.repeat(245)}`]);
});

describe('whatever the host', () => {
  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/).filter((text) => /[a-z]/.test(text));
  const host = fc.oneof(
    fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.')),
    fc.array(label, { maxLength: 3 }).map((labels) => [...labels, 'example', 'com'].join('.')),
    label.map((text) => `${text}example.com`),
  );

  test('it is accepted exactly when its last labels are the configured ones', () => {
    fc.assert(
      fc.property(host, (name) => {
        const canonical = canonicalHost(name);
        // "xn--…" without a real name behind it is no host, nor is what ends like a number.
        if (canonical === undefined) return /(^|\.)..--|(^|\.)0x[0-9a-f]*$/.test(name);
        const labels = canonical.split('.');
        return isWithin(canonical, 'example.com') === (labels.slice(-2).join('.') === 'example.com');
      }),
      { numRuns: 5_000 },
    );
  });

  test('its one form is its own form', () => {
    fc.assert(
      fc.property(fc.oneof(host, fc.string({ unit: anyCharacter }), fc.domain()), (name) => {
        const once = canonicalHost(name);
        return once === undefined || (canonicalHost(once) === once && /^[a-z0-9._-]+$/.test(once));
      }),
      { numRuns: 5_000 },
    );
  });

  test('a URL that a browser would send somewhere else is never taken for the brand’s', () => {
    const part = fc.constantFrom(
      'example.com',
      'evil.io',
      '@',
      '\\',
      '/',
      ':',
      '.',
      '#',
      '?',
      '%2e',
      '*',
      '\t',
      'a',
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const url = `https://${parts.join('')}`;
        const host = hostOfUrl(url);
        if (host === undefined || !isWithin(host, 'example.com')) return true;
        return isWithin(new URL(url).hostname.replace(/\.$/, ''), 'example.com');
      }),
      { numRuns: 5_000 },
    );
  });
});
