// One clear line instead of a stack trace when Node is too old.
// npm scripts here run on the Node 24 that npm installed (node_modules/.bin/node) where the
// platform has one; elsewhere Node 24 must be installed.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `conversation-service needs Node 24 or newer; this is ${process.version}. ` +
      'Run it through npm ("npm start") after "npm ci", or install Node 24.\n',
  );
  process.exit(1);
}
