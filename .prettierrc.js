/** n8n's format, with tabs, for its nodes; the same with spaces for everything else. */
module.exports = {
	semi: true,
	trailingComma: 'all',
	bracketSpacing: true,
	useTabs: true,
	tabWidth: 2,
	arrowParens: 'always',
	singleQuote: true,
	quoteProps: 'as-needed',
	endOfLine: 'lf',
	printWidth: 100,
	// Spaces in the pages' templates are part of the text.
	embeddedLanguageFormatting: 'off',
	overrides: [
		{
			files: [
				'service/**',
				'test/**',
				'scripts/**',
				'examples/**',
				'deploy/**',
				'*.json',
				'*.yaml',
				'*.yml',
			],
			options: { useTabs: false },
		},
	],
};
