// The floors of the house: each imports only what is below it. `npm run lint` checks this.
// See docs/architecture.md, "The rooms".

/** From the ground up. platform/ and store/ are one floor. */
const FLOORS = [
  ['platform', 'store'],
  ['team'],
  ['deliveries'],
  ['conversations'],
  ['channels'],
  ['payments'],
  ['tools'],
  ['waits'],
  ['events'],
  ['agent'],
  ['inbox'],
  ['overview'],
  ['app'],
  ['moving'],
  ['cli'],
];

const SUBJECTS =
  'team|deliveries|conversations|channels|payments|events|tools|waits|agent|overview';

const within = (rooms) => `^service/src/(${rooms.join('|')})/`;

/** Screens may show what belongs to any subject. */
const SCREENS = '^service/src/([a-z]+/screens|inbox)/';

/** What a subject shows to the outside: its endpoints, their answers and its pages. */
const EDGE = '(contract|payloadContract|routes|stream|views|screens/.+)[.]ts$';

const floorRules = FLOORS.slice(0, -1).map((rooms, floor) => ({
  name: `${rooms.join('-and-')}-knows-what-is-below`,
  comment: 'Register a reaction in app/ (see conversations/reactions.ts), or move the file.',
  severity: 'error',
  from: { path: within(rooms), pathNot: SCREENS },
  to: { path: within(FLOORS.slice(floor + 1).flat()) },
}));

export default {
  forbidden: [
    ...floorRules,
    {
      name: 'no-circles',
      comment: 'Two files that need each other are one file, or share a third. Types count too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'through-the-index',
      comment: 'Another subject is used through its index.ts. Add there what others may use.',
      severity: 'error',
      from: { path: `^service/src/(${SUBJECTS}|inbox|platform|store)/` },
      to: {
        path: `^service/src/(${SUBJECTS})/`,
        pathNot: ['^service/src/$1/', '^service/src/[a-z]+/index[.]ts$', EDGE],
      },
    },
    {
      name: 'edges-know-edges',
      comment: "Only endpoints and pages may use another subject's endpoints and pages.",
      severity: 'error',
      from: {
        path: `^service/src/(${SUBJECTS}|inbox|platform|store)/`,
        pathNot: [EDGE, SCREENS],
      },
      to: { path: `^service/src/(${SUBJECTS})/.*${EDGE}`, pathNot: '^service/src/$1/' },
    },
    {
      name: 'index-shows-no-edges',
      comment: 'index.ts exports rules and operations; app/ mounts routes, screens and workers.',
      severity: 'error',
      from: { path: '/index[.]ts$', pathNot: '^service/src/store/' },
      to: { path: EDGE },
    },
    {
      name: 'the-port-hides-the-stores',
      comment: 'Both stores are reached through store/store.ts; store/openStore.ts opens them.',
      severity: 'error',
      from: { path: '^service/src/', pathNot: '^service/src/(store|app|cli|moving)/' },
      to: { path: '^service/src/store/(lowdb|postgres)/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'service/tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.mjs', '.json'] },
  },
};
