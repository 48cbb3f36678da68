/** What draws the view is a chunk of its own, with React and Ink in it: loaded when there is something to draw. */
export const loadLiveView = (): Promise<typeof import('./live-view.tsx')> => import('./live-view.tsx');
