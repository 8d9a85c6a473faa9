/** Who acted on a conversation: anyone but the customer. */
export interface Actor {
  readonly type: 'agent' | 'team_member' | 'api';
  readonly name: string;
  /** Only for a team member. */
  readonly memberId?: string;
}
