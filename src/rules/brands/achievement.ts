/** Achievements as a brand writes them down, `claims 10 A regular`: what is counted, how much of it is needed, and the name. */

export const achievementMetrics = ['claims', 'rwt_earned', 'streak_days', 'manual'] as const;
/** `manual`: counted by nothing but reports of the brand's clients. */
export type AchievementMetric = (typeof achievementMetrics)[number];

export interface Achievement {
  /** The brand's own word for it, by which clients know it. */
  type: string;
  metric: AchievementMetric;
  threshold: number;
  name: string;
}

/** Progress above it does not count: far above any threshold that somebody could reach. */
export const PROGRESS_MAX = 1_000_000_000;

const WRITTEN = new RegExp(`^(${achievementMetrics.join('|')})\\s+([1-9]\\d{0,9})\\s+(\\S.{0,99})$`);

export const ACHIEVEMENT_EXPECTED = `must be a metric (${achievementMetrics.join(', ')}), how much of it is needed (1 to ${PROGRESS_MAX}), and a name of at most 100 characters, such as "claims 10 A regular"`;

function parts(text: string): Omit<Achievement, 'type'> | undefined {
  const [, metric, threshold, name = ''] = WRITTEN.exec(text.trim()) ?? [];
  const known = achievementMetrics.find((one) => one === metric);
  if (!known || Number(threshold) > PROGRESS_MAX || /[\u0000-\u001f\u007f]/.test(name)) return undefined;
  return { metric: known, threshold: Number(threshold), name };
}

/** The text in its one form, or undefined when it describes no achievement. */
export function achievementText(text: string): string | undefined {
  const read = parts(text);
  return read && `${read.metric} ${read.threshold} ${read.name}`;
}

/** A brand's achievements by metric, the nearest first: settings have no order of their own. */
export const achievementsOf = ({
  achievements = {},
}: {
  achievements?: Record<string, string>;
}): Achievement[] =>
  Object.entries(achievements)
    .flatMap(([type, text]) => {
      const read = parts(text);
      return read ? [{ type, ...read }] : [];
    })
    .sort((a, b) => placeOf(a) - placeOf(b) || a.threshold - b.threshold || (a.type < b.type ? -1 : 1));

const placeOf = ({ metric }: Achievement) => achievementMetrics.indexOf(metric);

/** What a user has of each metric; one that is absent is not looked at. */
export type AchievementValues = Partial<Record<AchievementMetric, number>>;

/** The achievements that these values reach. */
export const reachedBy = (achievements: readonly Achievement[], values: AchievementValues): Achievement[] =>
  achievements.filter(({ metric, threshold }) => (values[metric] ?? 0) >= threshold);
