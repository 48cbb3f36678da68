/** What a brand may write down as its domain. */
import { describe, expect, test } from 'vitest';
import { configuredHost } from '../../src/rules/brands/domain.ts';

describe('what a brand may configure', () => {
  test.each([
    ['example.com', 'example.com'],
    ['Shop.Example.COM', 'shop.example.com'],
    ['https://example.com', 'example.com'],
    ['https://www.example.com/shop?x#y', 'www.example.com'],
    ['http://example.com:8080/', 'example.com'],
    ['example.com/shop', 'example.com'],
    ['example.com/https://x.example', 'example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['someone.github.io', 'someone.github.io'],
    ['com', undefined],
    ['co.uk', undefined],
    ['github.io', undefined],
    ['https://co.uk/', undefined],
    ['com.', undefined],
    ['localhost', 'localhost'],
    ['*.example.com', undefined],
    ['.example.com', undefined],
    ['user@example.com', undefined],
    ['https://user:pass@example.com', undefined],
    ['javascript://example.com', undefined],
    ['ftp://example.com', undefined],
    ['', undefined],
    ['/', undefined],
    ['https://', undefined],
  ])('%j is taken as %j', (text, host) => {
    expect(configuredHost(text)).toBe(host);
  });
});
