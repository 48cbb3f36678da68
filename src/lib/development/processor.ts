/**
 * Secrets of the emulated payment processor: the same in every stack, so that a program's own settings outlive it.
 * Anyone can read them; production refuses them.
 */
export const DEV_PROCESSOR = {
  /** Of the API, as a bearer token or the user of basic authentication. */
  secretKey: 'sk_test_rewards_emulator',
  /** What the events to our own endpoint are signed with. */
  webhookSecret: 'whsec_RewardsEmulatorEventsAreSignedWithThis',
} as const;
