// Ordinary TypeScript rules for the service, the tests and the scripts.
// The nodes have their own, stricter rules in the root's eslint.config.mjs (n8n's).
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', 'nodes/**', 'credentials/**'] },
  ...tseslint.configs.strict,
  {
    files: ['**/*.ts', '**/*.mjs'],
    rules: {
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-empty-function': 'off',
      'no-console': 'error',
    },
  },
  // Command-line tools talk to a person on the terminal.
  { files: ['scripts/**', 'test/**', 'service/src/cli/**'], rules: { 'no-console': 'off' } },
);
