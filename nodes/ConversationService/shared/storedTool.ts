import type { IHookFunctions } from 'n8n-workflow';

/** What n8n keeps with the workflow between publishing and unpublishing. */
export interface StoredTool {
	/** The name under which the tool was published last. */
	name?: string;
	secret?: string;
	/** Of the publication, for as long as it lasts. */
	revision?: number;
	/** The draft that is called while an editor listens for a test event. */
	draftId?: string;
}

export const readStoredTool = (context: Pick<IHookFunctions, 'getWorkflowStaticData'>) =>
	context.getWorkflowStaticData('node') as StoredTool;
