import { describe, expect, test } from 'vitest';
import { channelAllowed } from '../../src/rules/events/submission.ts';

describe('contract: Channel rule', () => {
  test.each<[string, string[] | undefined, boolean]>([
    ['#support', ['#support'], true],
    ['support', ['#support'], true],
    ['#Support', ['support'], true],
    [' support ', ['#support'], true],
    ['support2', ['#support'], false],
    ['##support', ['#support'], false],
    ['', ['#support'], false],
    ['anything', [], true],
    ['anything', undefined, true],
    ['sup#port', ['support'], false],
    ['straße', ['strasse'], false],
    ['1234567890', ['#support', '1234567890'], true],
  ])('channel %j with %j: %j', (channel, allowed, passes) => {
    expect(channelAllowed(channel, allowed)).toBe(passes);
  });
});
