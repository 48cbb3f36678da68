/** Contract: detectionConfig.urlPatterns. */
import { describe, expect, test } from 'vitest';
import { matchesGlob, matchesUrl } from '../../src/sdk/glob.ts';

const PAGE = 'https://shop.example/checkout/order-received/17?key=secret#top';

describe('a pattern fits', () => {
  test.each([
    ['/checkout/order-received/*', PAGE],
    ['/checkout/order-received/17', PAGE],
    ['/checkout/*/17', PAGE],
    ['/*', PAGE],
    ['*', PAGE],
    ['*order-received*', PAGE],
    ['*/order-received/*', PAGE],
    ['checkout/order-received/17', PAGE],
    ['https://shop.example/checkout/*', PAGE],
    ['HTTPS://Shop.Example/checkout/*', PAGE],
    ['*://shop.example/checkout/*', PAGE],
    ['//shop.example/checkout/*', PAGE],
    ['shop.example/checkout/*', PAGE],
    ['*.example/checkout/*', PAGE],
    ['/checkout/order-received/17?key=*', PAGE],
    ['/checkout/order-received/17#top', PAGE],
    ['/checkout/order-received/17?key=secret#top', PAGE],
    // A slash at the end makes no difference.
    ['/thanks', 'https://shop.example/thanks/'],
    ['/thanks/', 'https://shop.example/thanks'],
    ['/', 'https://shop.example/'],
    ['/', 'https://shop.example'],
    ['shop.example', 'https://shop.example/'],
    ['https://shop.example', 'https://shop.example/'],
    ['http://localhost:3000/thanks', 'http://localhost:3000/thanks'],
    ['https://shop.example/thanks', 'https://shop.example:8443/thanks'],
    // Fragments by which single-page sites route.
    ['/app#/done/*', 'https://shop.example/app?v=2#/done/17'],
    // Letters that browsers write in their own way.
    ['/größe/*', 'https://shop.example/größe/xl'],
    ['thanks.html', 'https://shop.example/thanks.html'],
  ])('%s on %s', (pattern, href) => {
    expect(matchesUrl(pattern, href)).toBe(true);
  });
});

describe('a pattern does not fit', () => {
  test.each([
    ['', PAGE],
    ['/checkout', PAGE],
    ['/order-received/*', PAGE],
    ['/Checkout/*', PAGE],
    ['/checkout/order-received/*', 'https://shop.example/checkout/order-received'],
    ['http://shop.example/checkout/*', PAGE],
    ['https://other.example/*', PAGE],
    ['other.example/*', PAGE],
    ['//hop.example/*', PAGE],
    ['/checkout/order-received/17?key=other', PAGE],
    ['/', PAGE],
    // Nothing in a query may pass for a path.
    ['/thanks*', 'https://shop.example/?next=/thanks'],
    ['*thanks*', 'https://thanks.example/'],
    ['/thanks', 'no address at all'],
    ['/thanks', 'about:blank'],
  ])('%s on %s', (pattern, href) => {
    expect(matchesUrl(pattern, href)).toBe(false);
  });
});

test('signs of regular expressions are plain text', () => {
  for (const pattern of ['/a.c', '/(a|abc)', '/[a-z]bc', '/a+bc', '/^abc$', '/abc\\', '/(', '/a{3}']) {
    expect(matchesUrl(pattern, 'https://shop.example/abc')).toBe(false);
  }
  expect(matchesUrl('/price+(new)', 'https://shop.example/price+(new)')).toBe(true);
});

test('a star stands for any text, and its neighbours may not share letters', () => {
  expect(matchesGlob('ab*ba', 'aba')).toBe(false);
  expect(matchesGlob('ab*ba', 'abba')).toBe(true);
  expect(matchesGlob('a*b*c', 'a-b-b-c')).toBe(true);
  expect(matchesGlob('a*b*c', 'a-c-b')).toBe(false);
  expect(matchesGlob('**', '')).toBe(true);
});

test('a hostile pattern is answered at once', () => {
  const startedAt = performance.now();
  expect(matchesUrl(`/${'a*'.repeat(1_000)}b`, `https://shop.example/${'a'.repeat(2_000)}`)).toBe(false);
  // Trying every way to divide the text would take longer than there is time.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
