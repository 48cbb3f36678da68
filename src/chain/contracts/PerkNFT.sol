// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {BusinessEscrow} from "./BusinessEscrow.sol";
import {RewardToken} from "./RewardToken.sol";

/// @title Perks that are bought with RWT. The payment goes into the brand's escrow balance.
/// @dev Trust: a perk admin sets prices, stocks and which brand is paid. A relayer can buy for a buyer who has
/// approved this contract, at no more than the price it names, or get anyone a free perk; nothing else.
/// Nobody else can buy for a buyer: a permit names neither perk nor brand and could be used for another perk.
/// The buyer is called back (ERC-1155) only after stock and payment are settled.
contract PerkNFT is ERC1155, AccessControl {
    /// @notice May configure perks.
    bytes32 public constant PERK_ADMIN_ROLE = keccak256("PERK_ADMIN_ROLE");

    /// @notice May submit purchases for buyers. A gas wallet needs no other role and no tokens.
    bytes32 public constant RELAYER_ROLE = keccak256("RELAYER_ROLE");

    /// @notice A stock that never runs out.
    uint256 public constant UNLIMITED_STOCK = type(uint256).max;

    /// @notice What a perk costs, how many are left, and whose escrow balance is paid.
    struct Perk {
        uint256 price;
        uint256 stock;
        address brand;
        bool active;
    }

    /// @notice The reward token.
    RewardToken public immutable token;
    /// @notice The escrow that receives payments.
    BusinessEscrow public immutable escrow;

    mapping(uint256 perkId => Perk) private _perks;

    /// @notice A perk was configured.
    event PerkSet(uint256 indexed perkId, address indexed brand, uint256 price, uint256 stock, bool active);
    /// @notice A perk was bought.
    event PerkPurchased(uint256 indexed perkId, address indexed buyer, address indexed brand, uint256 price);

    /// @notice The perk does not exist or is not on sale.
    error PerkNotActive(uint256 perkId);
    /// @notice None is left.
    error PerkSoldOut(uint256 perkId);
    /// @notice The perk costs more than the buyer agreed to.
    error PriceAboveMaximum(uint256 perkId, uint256 price, uint256 maxPrice);
    /// @notice The caller is neither the buyer nor a relayer.
    error NotBuyerOrRelayer(address caller, address buyer);
    /// @notice A perk needs a brand to pay.
    error InvalidBrand();

    constructor(RewardToken token_, BusinessEscrow escrow_, address admin, string memory uri_) ERC1155(uri_) {
        token = token_;
        escrow = escrow_;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        // This contract holds RWT only within one purchase, and the escrow takes it only when told to deposit.
        token_.approve(address(escrow_), type(uint256).max);
    }

    /// @notice Creates a perk or replaces its terms. `stock` is the number left to sell.
    function setPerk(uint256 perkId, uint256 price, uint256 stock, address brand, bool active)
        external
        onlyRole(PERK_ADMIN_ROLE)
    {
        if (brand == address(0)) revert InvalidBrand();
        _perks[perkId] = Perk({price: price, stock: stock, brand: brand, active: active});
        emit PerkSet(perkId, brand, price, stock, active);
    }

    /// @notice The terms of a perk; all zero if it was never set.
    function perkOf(uint256 perkId) external view returns (Perk memory) {
        return _perks[perkId];
    }

    /// @notice Buys one perk for the caller, paid by allowance.
    function purchase(uint256 perkId, uint256 maxPrice) external {
        _purchase(msg.sender, perkId, maxPrice);
    }

    /// @notice Buys one perk for a buyer, paid by the buyer's allowance. For the buyer or a relayer.
    function purchaseFor(address buyer, uint256 perkId, uint256 maxPrice) external {
        _checkCaller(buyer);
        _purchase(buyer, perkId, maxPrice);
    }

    /// @notice Buys one perk for a buyer who signed a permit of `maxPrice` to this contract.
    /// For the buyer or a relayer.
    /// @dev Anyone may have submitted the permit before us. It then fails here, and the allowance it left pays.
    function purchaseWithPermit(
        address buyer,
        uint256 perkId,
        uint256 maxPrice,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _checkCaller(buyer);
        try token.permit(buyer, address(this), maxPrice, deadline, v, r, s) {} catch {}
        _purchase(buyer, perkId, maxPrice);
    }

    /// @inheritdoc ERC1155
    function supportsInterface(bytes4 interfaceId) public view override(ERC1155, AccessControl) returns (bool) {
        return super.supportsInterface(interfaceId);
    }

    function _checkCaller(address buyer) private view {
        if (msg.sender != buyer && !hasRole(RELAYER_ROLE, msg.sender)) revert NotBuyerOrRelayer(msg.sender, buyer);
    }

    function _purchase(address buyer, uint256 perkId, uint256 maxPrice) private {
        Perk storage perk = _perks[perkId];
        if (!perk.active) revert PerkNotActive(perkId);
        uint256 price = perk.price;
        if (price > maxPrice) revert PriceAboveMaximum(perkId, price, maxPrice);
        uint256 stock = perk.stock;
        if (stock == 0) revert PerkSoldOut(perkId);
        if (stock != UNLIMITED_STOCK) perk.stock = stock - 1;
        address brand = perk.brand;
        emit PerkPurchased(perkId, buyer, brand, price);
        if (price != 0) {
            token.transferFrom(buyer, address(this), price);
            escrow.deposit(brand, price);
        }
        _mint(buyer, perkId, 1, "");
    }
}
